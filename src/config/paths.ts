import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isObject } from '../lib/is-object.ts';
import { type Finding, fileFailure } from './mistakes.ts';
import { valueAt } from './value-at.ts';

type Path = readonly string[];

const REDIS_TLS = ['state', 'redis', 'tls'];
const PEM_FILES = ['ca_file', 'cert_file', 'key_file'] as const;

/** The settings that hold the path of a file or a directory. */
const SETTINGS: readonly Path[] = [
  ['api', 'key_file'],
  ['state', 'dir'],
  ...PEM_FILES.map((name) => [...REDIS_TLS, name]),
  ['web', 'config_file'],
];

/** The document with absolute paths. */
export function withAbsolutePaths(document: unknown, folder: string): unknown {
  return SETTINGS.reduce((changed, path) => resolveAt(changed, path, folder), document);
}

function resolveAt(value: unknown, [key = '', ...rest]: Path, folder: string): unknown {
  if (!isObject(value) || !Object.hasOwn(value, key)) return value;
  const at = value[key];
  if (rest.length > 0) return { ...value, [key]: resolveAt(at, rest, folder) };
  return typeof at === 'string' && at !== '' ? { ...value, [key]: resolve(folder, at) } : value;
}

/** The files for the TLS of Redis that cannot be read. */
export async function redisTlsFindings(document: unknown): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const name of PEM_FILES) {
    const path = [...REDIS_TLS, name];
    const file = valueAt(document, path);
    if (typeof file !== 'string' || file === '') continue;
    try {
      await readFile(file, 'utf8');
    } catch (error) {
      findings.push({ path, message: fileFailure(file, error) });
    }
  }
  return findings;
}
