import { stat } from 'node:fs/promises';
import type { Config } from './config.ts';
import { valueAt } from './value-at.ts';

/** How others can get the API key. Not a mistake of the file: in a test or on a private network it can be intended. */
export type Exposure =
  | { readonly kind: 'file'; readonly file: string; readonly mode: string }
  | { readonly kind: 'http'; readonly host: string; readonly setting: string };

/**
 * Readable by users other than the owner and the group. Group access is allowed, because pods and services get their
 * key through a group.
 */
const READABLE_BY_OTHERS = 0o004;
const LOOPBACK = /^(127(\.\d+){3}|\[::1\]|(.+\.)?localhost)$/;

/** The files that hold the key and that others can read. @param written The file before variables are replaced. */
export async function exposedFiles(file: string | undefined, written: unknown, value: unknown): Promise<Exposure[]> {
  const key = valueAt(written, ['api', 'key']);
  const keyFile = valueAt(value, ['api', 'key_file']);
  const files = [
    ...(file !== undefined && typeof key === 'string' && !key.includes('${') ? [file] : []),
    ...(typeof keyFile === 'string' ? [keyFile] : []),
  ];
  return (await Promise.all(files.map(exposedFile))).flat();
}

async function exposedFile(file: string): Promise<Exposure[]> {
  // Windows has no such modes; Node makes them up.
  const mode = process.platform === 'win32' ? 0 : ((await stat(file).catch(() => undefined))?.mode ?? 0);
  return mode & READABLE_BY_OTHERS ? [{ kind: 'file', file, mode: `0${(mode & 0o777).toString(8)}` }] : [];
}

/** The hosts that get the key in clear text, each once. */
export function exposedHosts({ api, chains }: Config): Exposure[] {
  const exposures = new Map<string, Exposure>();
  for (const [setting, text] of [
    ['api.base_url', api.baseUrl],
    ...chains.map(({ name, v1BaseUrl }) => [`chains.${name}.v1_base_url`, v1BaseUrl] as const),
  ] as const) {
    const { protocol, hostname, host } = new URL(text);
    if (protocol !== 'http:' || LOOPBACK.test(hostname) || exposures.has(host)) continue;
    exposures.set(host, { kind: 'http', host, setting });
  }
  return [...exposures.values()];
}
