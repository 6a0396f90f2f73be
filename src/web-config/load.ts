import { readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { SecureContextOptions } from 'node:tls';
import { readDocument } from '../config/document.ts';
import {
  ConfigError,
  type Finding,
  fileFailure,
  locate,
  type Mistake,
  readFailure,
  readOrRefuse,
  schemaFindings,
} from '../config/mistakes.ts';
import { valueAt } from '../config/value-at.ts';
import type { Milliseconds } from '../lib/time.ts';
import { authorityFindings, type Pem, pairFindings } from './certificates.ts';
import { WebConfigDocument } from './schema.ts';
import { CLIENT_POLICIES, type ClientPolicy, CURVES, opensslSuites, VERSIONS } from './tls-names.ts';
import { tlsFindings } from './tls-rules.ts';

export interface TlsSettings {
  readonly context: SecureContextOptions;
  readonly clients: ClientPolicy;
  /** A client certificate must have one of these names; undefined: any certificate is accepted. */
  readonly allowedSans: readonly string[] | undefined;
}

export interface RateLimit {
  readonly intervalMs: Milliseconds;
  readonly burst: number;
}

/** A web config file, with the certificates that it names. */
export interface WebConfig {
  /** Undefined: plain HTTP. */
  readonly tls: TlsSettings | undefined;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Bcrypt hashes by name; empty: no password is required. */
  readonly users: ReadonlyMap<string, string>;
  readonly rateLimit: RateLimit | undefined;
}

/** The config or its mistakes, and the stamp that each file had just before it was read. */
export interface ReadResult {
  readonly outcome: WebConfig | ConfigError;
  readonly stamps: ReadonlyMap<string, string>;
}

/** What is wrong with a web config file and the files it names. */
export async function webConfigMistakes(file: string): Promise<readonly Mistake[]> {
  const { outcome } = await readWebConfig(file);
  return outcome instanceof ConfigError ? outcome.mistakes : [];
}

/** @throws ConfigError */
export function configIn({ outcome }: ReadResult): WebConfig {
  if (outcome instanceof ConfigError) throw outcome;
  return outcome;
}

/** Reads and checks a web config file and the files it names. */
export async function readWebConfig(file: string): Promise<ReadResult> {
  const stamps = new Map<string, string>();
  const read = async (path: string): Promise<string> => {
    stamps.set(path, await stampOf(path));
    return readFile(path, 'utf8');
  };
  try {
    return { outcome: await parse(file, read), stamps };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { outcome: error, stamps };
  }
}

/** A text that changes when the file changes or is replaced. */
export async function stampOf(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
  } catch (error) {
    return readFailure(error);
  }
}

type Read = (path: string) => Promise<string>;

async function parse(file: string, read: Read): Promise<WebConfig> {
  const document = readDocument(await readOrRefuse(file, read));
  const { value } = document;
  const parsed = WebConfigDocument.safeParse(value);
  const { pems, findings } = await readPems(value, dirname(file), read);
  const all = [
    ...document.findings,
    ...schemaFindings(WebConfigDocument, parsed, value, document.written),
    ...tlsFindings(value),
    ...findings,
  ];
  const mistakes = locate(file, all, document.positionOf);
  if (mistakes.length > 0 || !parsed.success) throw new ConfigError(mistakes);
  return webConfigOf(parsed.data, pems);
}

type Pems = Partial<Record<'cert' | 'key' | 'client_ca', Pem>>;

/** The certificates and the key, from the document or from files. Paths are relative to the folder of the web config. */
async function readPems(document: unknown, folder: string, read: Read): Promise<{ pems: Pems; findings: Finding[] }> {
  const pems: Pems = {};
  const findings: Finding[] = [];
  for (const name of ['cert', 'key', 'client_ca'] as const) {
    const inline = ['tls_server_config', name];
    const text = valueAt(document, inline);
    if (typeof text === 'string' && text !== '') pems[name] = { path: inline, text };
    const path = ['tls_server_config', `${name}_file`];
    const file = valueAt(document, path);
    if (typeof file !== 'string' || file === '') continue;
    const tried = resolve(folder, file);
    try {
      pems[name] = { path, text: await read(tried) };
    } catch (error) {
      findings.push({ path, message: fileFailure(tried, error) });
    }
  }
  if (pems.cert && pems.key) findings.push(...pairFindings(pems.cert, pems.key));
  if (pems.client_ca) findings.push(...authorityFindings(pems.client_ca));
  return { pems, findings };
}

function webConfigOf(document: WebConfigDocument, pems: Pems): WebConfig {
  const { tls_server_config: tls, http_server_config: http, rate_limit: limit } = document;
  return {
    tls: tlsOf(tls, pems),
    headers: Object.entries(http.headers).filter((header): header is [string, string] => header[1] !== undefined),
    users: new Map(Object.entries(document.basic_auth_users)),
    rateLimit: limit.interval ? { intervalMs: limit.interval, burst: limit.burst ?? 0 } : undefined,
  };
}

function tlsOf(
  tls: WebConfigDocument['tls_server_config'],
  { cert, key, client_ca: ca }: Pems,
): TlsSettings | undefined {
  if (!cert || !key) return undefined;
  const min = tls.min_version ?? 'TLS12';
  const suites = tls.cipher_suites?.length ? opensslSuites(tls.cipher_suites) : undefined;
  // At its default security level OpenSSL refuses versions before TLS 1.2.
  const isOld = min === 'TLS10' || min === 'TLS11';
  const ciphers = isOld ? `${suites ?? 'DEFAULT'}:@SECLEVEL=0` : suites;
  return {
    context: {
      cert: cert.text,
      key: key.text,
      minVersion: VERSIONS[min],
      maxVersion: VERSIONS[tls.max_version ?? 'TLS13'],
      honorCipherOrder: tls.prefer_server_cipher_suites ?? true,
      ...(ca && { ca: ca.text }),
      ...(ciphers === undefined ? {} : { ciphers }),
      ...(tls.curve_preferences?.length
        ? { ecdhCurve: tls.curve_preferences.map((curve) => CURVES[curve]).join(':') }
        : {}),
    },
    clients: CLIENT_POLICIES[tls.client_auth_type ?? 'NoClientCert'],
    allowedSans: tls.client_allowed_sans,
  };
}
