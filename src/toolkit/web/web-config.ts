import { createPrivateKey, X509Certificate } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { Milliseconds } from '../lib/time.ts';
import { readWhole } from '../state/whole-file.ts';
import { readDocument } from '../yaml/document.ts';
import { ConfigError, type Finding, fileFailure, locate, readOrRefuse, schemaFindings } from '../yaml/mistakes.ts';
import { valueAt } from '../yaml/value-at.ts';
import { CLIENT_POLICIES, type ClientPolicy, CURVES, opensslSuites, tlsFindings, VERSIONS } from './tls-rules.ts';
import { WebConfigDocument } from './web-config-schema.ts';

export interface TlsSettings {
  readonly context: SecureContextOptions;
  readonly clients: ClientPolicy;
  /** A client certificate must have one of these names; undefined: any certificate is accepted. */
  readonly allowedSans: readonly string[] | undefined;
  /** From which the certificates are read again. Paths are relative to the folder. */
  readonly source: { readonly section: WebConfigDocument['tls_server_config']; readonly folder: string };
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

/**
 * Reads and checks a web config file and the files it names.
 * @throws ConfigError with every mistake at once
 */
export async function readWebConfig(file: string): Promise<WebConfig> {
  const document = readDocument(await readOrRefuse(file));
  const { value } = document;
  const parsed = WebConfigDocument.safeParse(value);
  const { pems, findings } = await readPems(value, dirname(file));
  const found = [
    ...document.findings,
    ...schemaFindings(parsed, value, document.written),
    ...tlsFindings(value),
    ...findings,
  ];
  const config = parsed.success && found.length === 0 ? webConfigOf(parsed.data, pems, dirname(file)) : undefined;
  const all = [...found, ...contextFindings(config?.tls)];
  if (!config || all.length > 0) throw new ConfigError(locate(file, all, document.positionOf));
  return config;
}

/**
 * The settings with the certificates that are in their files now.
 * @throws Error if they cannot be used; they may be half replaced
 */
export async function readCertificates({ section, folder }: TlsSettings['source']): Promise<TlsSettings> {
  const { pems, findings } = await readPems({ tls_server_config: section }, folder);
  const tls = tlsOf(section, pems, folder);
  const [first] = [...findings, ...contextFindings(tls)];
  if (!tls || first) throw new Error(first?.message ?? 'no certificate');
  return tls;
}

/** Why OpenSSL refuses settings that are valid one by one, such as a key that is too short. */
function contextFindings(tls: TlsSettings | undefined): Finding[] {
  try {
    if (tls) createSecureContext(tls.context);
    return [];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [{ path: ['tls_server_config'], message: `OpenSSL does not accept these settings: ${reason}` }];
  }
}

/** A text in PEM, and the key of the config that gave it. */
interface Pem {
  readonly path: readonly string[];
  readonly text: string;
}

type Pems = Partial<Record<'cert' | 'key' | 'client_ca', Pem>>;

/** The certificates and the key, from the document or from files. Paths are relative to the folder of the web config. */
async function readPems(document: unknown, folder: string): Promise<{ pems: Pems; findings: Finding[] }> {
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
      pems[name] = { path, text: await readWhole(tried) };
    } catch (error) {
      findings.push({ path, message: fileFailure(tried, error) });
    }
  }
  if (pems.cert && pems.key) findings.push(...pairFindings(pems.cert, pems.key));
  if (pems.client_ca) findings.push(...authorityFindings(pems.client_ca));
  return { pems, findings };
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** What is wrong with a certificate and its key. */
function pairFindings(cert: Pem, key: Pem): Finding[] {
  const certificate = parsed(() => new X509Certificate(cert.text));
  const secret = parsed(() => createPrivateKey(key.text));
  const findings: Finding[] = [];
  if (!certificate) findings.push({ path: cert.path, message: 'expected a certificate in PEM' });
  if (!secret) findings.push({ path: key.path, message: 'expected a private key in PEM, without a passphrase' });
  if (certificate && secret && !parsed(() => certificate.checkPrivateKey(secret))) {
    findings.push({ path: key.path, message: 'the key does not match the certificate' });
  }
  return findings;
}

function authorityFindings(authorities: Pem): Finding[] {
  const texts = authorities.text.match(CERTIFICATE) ?? [];
  const isGood = texts.length > 0 && texts.every((text) => parsed(() => new X509Certificate(text)));
  return isGood ? [] : [{ path: authorities.path, message: 'expected certificates in PEM' }];
}

function parsed<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    // The error of OpenSSL contains no more information.
    return undefined;
  }
}

function webConfigOf(document: WebConfigDocument, pems: Pems, folder: string): WebConfig {
  const { tls_server_config: tls, http_server_config: http, rate_limit: limit } = document;
  return {
    tls: tlsOf(tls, pems, folder),
    headers: Object.entries(http.headers).filter((header): header is [string, string] => header[1] !== undefined),
    users: new Map(Object.entries(document.basic_auth_users)),
    rateLimit: limit.interval ? { intervalMs: limit.interval, burst: limit.burst ?? 0 } : undefined,
  };
}

function tlsOf(
  tls: WebConfigDocument['tls_server_config'],
  { cert, key, client_ca: ca }: Pems,
  folder: string,
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
    source: { section: tls, folder },
  };
}
