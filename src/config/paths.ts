import { resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { isObject } from '../toolkit/lib/is-object.ts';
import { readWhole } from '../toolkit/state/whole-file.ts';
import { type Finding, fileFailure } from '../toolkit/yaml/mistakes.ts';
import { valueAt } from '../toolkit/yaml/value-at.ts';

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

/** The problems of the files for the TLS of Redis. */
export async function redisTlsFindings(document: unknown): Promise<Finding[]> {
  const texts: Partial<Record<(typeof PEM_FILES)[number], string>> = {};
  const findings: Finding[] = [];
  for (const name of PEM_FILES) {
    const path = [...REDIS_TLS, name];
    const file = valueAt(document, path);
    if (typeof file !== 'string' || file === '') continue;
    try {
      texts[name] = await readWhole(file);
    } catch (error) {
      findings.push({ path, message: fileFailure(file, error) });
    }
  }
  const { cert_file: cert, key_file: key } = texts;
  if (cert !== undefined && key !== undefined && !isPair(cert, key)) {
    const message = 'expected a certificate in PEM, and in key_file its key without a passphrase';
    findings.push({ path: [...REDIS_TLS, 'cert_file'], message });
  }
  return findings;
}

function isPair(cert: string, key: string): boolean {
  try {
    createSecureContext({ cert, key });
    return true;
  } catch {
    return false;
  }
}
