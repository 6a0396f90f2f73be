import { stat } from 'node:fs/promises';
import type { Finding } from '../toolkit/yaml/mistakes.ts';
import { valueAt } from '../toolkit/yaml/value-at.ts';
import type { Config } from './config.ts';

// How others can get the API key. These are no mistakes: in a test or on a private network they can be intended.

/**
 * Readable by users other than the owner and the group. Group access is allowed, because pods and services get their
 * key through a group.
 */
const READABLE_BY_OTHERS = 0o004;
const LOOPBACK = /^(127(\.\d+){3}|\[::1\]|(.+\.)?localhost)$/;

/** The files that hold the key and that others can read. @param written The file before variables are replaced. */
export async function exposedFiles(file: string | undefined, written: unknown, value: unknown): Promise<Finding[]> {
  const key = valueAt(written, ['api', 'key']);
  const keyFile = valueAt(value, ['api', 'key_file']);
  const findings = [
    ...(file !== undefined && typeof key === 'string' && !key.includes('${') ? [exposedFile('key', file)] : []),
    ...(typeof keyFile === 'string' ? [exposedFile('key_file', keyFile)] : []),
  ];
  return (await Promise.all(findings)).flat();
}

async function exposedFile(setting: string, file: string): Promise<Finding[]> {
  // Windows has no such modes; Node makes them up.
  const mode = process.platform === 'win32' ? 0 : ((await stat(file).catch(() => undefined))?.mode ?? 0);
  if (!(mode & READABLE_BY_OTHERS)) return [];
  const message = `other users can read ${file}, which contains the key: chmod o-rwx, or defaultMode: 0440 for a Kubernetes volume`;
  return [{ path: ['api', setting], message }];
}

/** The hosts that get the key in clear text. */
export function exposedHosts({ api, chains }: Config): Finding[] {
  const hosts = [
    { path: ['api', 'base_url'], url: api.baseUrl },
    ...chains.map(({ name, v1BaseUrl }) => ({ path: ['chains', name, 'v1_base_url'], url: v1BaseUrl })),
  ];
  return hosts.flatMap(({ path, url }) => {
    const { protocol, hostname } = new URL(url);
    if (protocol !== 'http:' || LOOPBACK.test(hostname)) return [];
    return [{ path, message: 'the API key is sent without encryption: use https, or a proxy on this machine' }];
  });
}
