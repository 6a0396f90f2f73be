import { createPrivateKey, X509Certificate } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { createSecureContext, type SecureContextOptions, type SecureVersion } from 'node:tls';
import * as z from 'zod';
import { messageOf } from '../lib/error-code.ts';
import { isObject } from '../lib/is-object.ts';
import { readWhole } from '../state/whole-file.ts';
import { readDocument } from '../yaml/document.ts';
import { either, flag, optional, section } from '../yaml/fields.ts';
import {
  ConfigError,
  type Finding,
  locate,
  notBoth,
  readFailure,
  readOrRefuse,
  schemaFindings,
} from '../yaml/mistakes.ts';
import { valueAt } from '../yaml/value-at.ts';

/**
 * The names of Go's crypto/tls, which the format uses, and those of OpenSSL, up to TLS 1.2. The suites are those of
 * https://pkg.go.dev/crypto/tls#CipherSuites: without the ones that Go calls insecure.
 */
const SUITES: ReadonlyMap<string, string> = new Map([
  ['TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256', 'ECDHE-ECDSA-AES128-GCM-SHA256'],
  ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384', 'ECDHE-ECDSA-AES256-GCM-SHA384'],
  ['TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
  ['TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA', 'ECDHE-ECDSA-AES128-SHA'],
  ['TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA', 'ECDHE-ECDSA-AES256-SHA'],
  ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
  ['TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
  ['TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256', 'ECDHE-RSA-CHACHA20-POLY1305'],
  ['TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA', 'ECDHE-RSA-AES128-SHA'],
  ['TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA', 'ECDHE-RSA-AES256-SHA'],
]);

/** The suites of TLS 1.3, which have one name. As in Go they are always included, whatever is chosen. */
const SUITES_1_3 = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];

const SUITE_NAMES = [...SUITES_1_3, ...SUITES.keys()];

const CURVES = { CurveP256: 'P-256', CurveP384: 'P-384', CurveP521: 'P-521', X25519: 'X25519' } as const;

const VERSIONS = {
  TLS10: 'TLSv1',
  TLS11: 'TLSv1.1',
  TLS12: 'TLSv1.2',
  TLS13: 'TLSv1.3',
} as const satisfies Record<string, SecureVersion>;

/**
 * Whether a server asks clients for a certificate, requires one, and verifies it with its CAs. Source of the names:
 * https://pkg.go.dev/crypto/tls#ClientAuthType
 */
const CLIENT_POLICIES = {
  NoClientCert: { isAsked: false, isRequired: false, isVerified: false },
  RequestClientCert: { isAsked: true, isRequired: false, isVerified: false },
  RequireAnyClientCert: { isAsked: true, isRequired: true, isVerified: false },
  // The older name in exporter-toolkit.
  RequireClientCert: { isAsked: true, isRequired: true, isVerified: false },
  VerifyClientCertIfGiven: { isAsked: true, isRequired: false, isVerified: true },
  RequireAndVerifyClientCert: { isAsked: true, isRequired: true, isVerified: true },
} as const;

// Errors are written as in yaml/fields.ts.

/** exporter-toolkit treats a key with null or an empty string as absent. */
function filled<S extends z.ZodType>(schema: S) {
  return z.preprocess((value) => (isEmpty(value) ? undefined : value), schema.optional());
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || value === undefined;
}

function oneOf<T extends object>(names: T) {
  const keys = Object.keys(names) as [keyof T & string, ...(keyof T & string)[]];
  return z.enum(keys, { error: either(keys) });
}

const file = filled(z.string({ error: 'the path of a file' }));
const version = oneOf(VERSIONS);

function pem(what: string) {
  return filled(z.custom<string>((value) => typeof value === 'string', { error: `expected ${what} as PEM text` }));
}

function listOf<S extends z.ZodType>(item: S, expected: string) {
  return filled(z.array(item, { error: expected }));
}

const Tls = section({
  cert: pem('a certificate'),
  key: pem('a private key'),
  client_ca: pem('certificates'),
  cert_file: file,
  key_file: file,
  client_ca_file: file,
  client_auth_type: filled(oneOf(CLIENT_POLICIES)),
  client_allowed_sans: listOf(z.string({ error: 'a DNS name, IP address, e-mail address or URI' }), 'a list of names'),
  min_version: filled(version),
  max_version: filled(version),
  cipher_suites: listOf(z.enum(SUITE_NAMES, { error: `one of ${SUITE_NAMES.join(', ')}` }), 'a list of cipher suites'),
  curve_preferences: listOf(oneOf(CURVES), 'a list of curves'),
  prefer_server_cipher_suites: filled(flag),
});

/** YAML reads `X-XSS-Protection: 1` as a number. */
const header = filled(
  z
    .union([z.string(), z.number()], { error: 'a text' })
    .transform(String)
    .refine((text) => /^[\t\x20-\x7e\x80-\xff]*$/.test(text), { error: 'expected a valid header value' }),
);

/** exporter-toolkit allows no other headers. */
const HeadersSection = section({
  'Content-Security-Policy': header,
  'X-Frame-Options': filled(z.enum(['deny', 'sameorigin'], { error: 'deny or sameorigin' })),
  'X-Content-Type-Options': filled(z.literal('nosniff', { error: 'nosniff' })),
  'X-XSS-Protection': header,
  'Strict-Transport-Security': header,
});

const BCRYPT = /^\$2[aby]\$(?:0[4-9]|[12]\d|3[01])\$[./A-Za-z0-9]{53}$/;

const hash = z.custom<string>((value) => typeof value === 'string' && BCRYPT.test(value), {
  error: 'expected a bcrypt hash of the password, as printed by `htpasswd -nBC 10 "" | tr -d ":\\n"`',
});

/** The format: https://github.com/prometheus/exporter-toolkit/blob/master/docs/web-configuration.md */
const WebConfigDocument = optional(
  section({
    tls_server_config: optional(Tls),
    http_server_config: optional(section({ http2: filled(flag), headers: optional(HeadersSection) })),
    basic_auth_users: optional(z.record(z.string(), hash, { error: 'a mapping of names to bcrypt hashes' })),
  }),
);
type WebConfigDocument = z.output<typeof WebConfigDocument>;

export interface TlsSettings {
  readonly context: SecureContextOptions;
  readonly clients: (typeof CLIENT_POLICIES)[keyof typeof CLIENT_POLICIES];
  /** A client certificate must have one of these names; undefined: any certificate is accepted. */
  readonly allowedSans: readonly string[] | undefined;
  /** From which the certificates are read again. Paths are relative to the folder. */
  readonly source: { readonly section: WebConfigDocument['tls_server_config']; readonly folder: string };
}

/** A web config file, with the certificates that it names. */
export interface WebConfig {
  /** Undefined: plain HTTP. */
  readonly tls: TlsSettings | undefined;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Bcrypt hashes by name; empty: no password is required. */
  readonly users: ReadonlyMap<string, string>;
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
  if (!config || all.length > 0) throw new ConfigError(locate(file, all, document.lineOf));
  return config;
}

/**
 * The settings with the certificates that are in their files now.
 * @throws Error if they cannot be used; they may be half replaced
 */
export async function readCertificates({ section, folder }: TlsSettings['source']): Promise<TlsSettings> {
  const { pems, findings } = await readPems({ [SECTION]: section }, folder);
  const tls = tlsOf(section, pems, folder);
  const [first] = [...findings, ...contextFindings(tls)];
  if (!tls || first) throw new Error(first?.message ?? 'no certificate');
  return tls;
}

/** Why settings that are valid one by one cannot be used, such as a key that is too short. */
function contextFindings(tls: TlsSettings | undefined): Finding[] {
  const { minVersion = '', maxVersion = '' } = tls?.context ?? {};
  // OpenSSL accepts this, and then refuses every client. The order of the versions is that of their names.
  if (minVersion > maxVersion) {
    return [{ path: [SECTION, 'max_version'], message: `expected at least min_version, which is ${minVersion}` }];
  }
  try {
    if (tls) createSecureContext(tls.context);
    return [];
  } catch (error) {
    const reason = messageOf(error);
    return [{ path: [SECTION], message: `OpenSSL does not accept these settings: ${reason}` }];
  }
}

const SECTION = 'tls_server_config';

/** What is given as text, or as a file under `NAME_file`. */
const PEM_NAMES = ['cert', 'key', 'client_ca'] as const;

/** Contradictions between keys. Reads the document before the schema does, so that all mistakes are reported together. */
function tlsFindings(document: unknown): Finding[] {
  const tls = valueAt(document, [SECTION]);
  // An empty section is plain HTTP; one that has only an empty cert_file is a mistake.
  if (!isObject(tls) || Object.keys(tls).length === 0) return [];
  const has = (key: string): boolean => !isEmpty(tls[key]);
  const asksNobody = !has('client_auth_type') || tls['client_auth_type'] === 'NoClientCert';
  const at = (key: string, message: string): Finding => ({ path: [SECTION, key], message });
  const unasked =
    'clients are not asked for a certificate: set client_auth_type, for example to RequireAndVerifyClientCert';
  return [
    ...['cert', 'key']
      .filter((name) => !has(name) && !has(`${name}_file`))
      .map((name) => at(name in tls ? name : `${name}_file`, `missing one of ${name} or ${name}_file`)),
    ...PEM_NAMES.filter((name) => has(name) && has(`${name}_file`)).map((name) => at(`${name}_file`, notBoth(name))),
    ...['client_ca', 'client_ca_file', 'client_allowed_sans']
      .filter((key) => has(key) && asksNobody)
      .map((key) => at(key, unasked)),
  ];
}

/** A text in PEM, and the key of the config that gave it. */
interface Pem {
  readonly path: readonly string[];
  readonly text: string;
}

type Pems = Partial<Record<(typeof PEM_NAMES)[number], Pem>>;

/** The certificates and the key, from the document or from files. Paths are relative to the folder of the web config. */
async function readPems(document: unknown, folder: string): Promise<{ pems: Pems; findings: Finding[] }> {
  const pems: Pems = {};
  const findings: Finding[] = [];
  for (const name of PEM_NAMES) {
    const inline = [SECTION, name];
    const text = valueAt(document, inline);
    if (typeof text === 'string' && text !== '') pems[name] = { path: inline, text };
    const path = [SECTION, `${name}_file`];
    const file = valueAt(document, path);
    if (typeof file !== 'string' || file === '') continue;
    const tried = resolve(folder, file);
    try {
      pems[name] = { path, text: await readWhole(tried) };
    } catch (error) {
      findings.push({ path, message: `the file ${tried} ${readFailure(error)}` });
    }
  }
  if (pems.cert && pems.key) findings.push(...pairFindings(pems.cert, pems.key));
  if (pems.client_ca) findings.push(...authorityFindings(pems.client_ca));
  return { pems, findings };
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function pairFindings(cert: Pem, key: Pem): Finding[] {
  const certificate = tryParse(() => new X509Certificate(cert.text));
  const secret = tryParse(() => createPrivateKey(key.text));
  const findings: Finding[] = [];
  if (!certificate) findings.push({ path: cert.path, message: 'expected a certificate in PEM' });
  if (!secret) findings.push({ path: key.path, message: 'expected a private key in PEM, without a passphrase' });
  if (certificate && secret && !tryParse(() => certificate.checkPrivateKey(secret))) {
    findings.push({ path: key.path, message: 'the key does not match the certificate' });
  }
  return findings;
}

function authorityFindings(authorities: Pem): Finding[] {
  const texts = authorities.text.match(CERTIFICATE) ?? [];
  const isGood = texts.length > 0 && texts.every((text) => tryParse(() => new X509Certificate(text)));
  return isGood ? [] : [{ path: authorities.path, message: 'expected certificates in PEM' }];
}

function tryParse<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    // The error of OpenSSL contains no more information.
    return undefined;
  }
}

function webConfigOf(document: WebConfigDocument, pems: Pems, folder: string): WebConfig {
  const { tls_server_config: tls, http_server_config: http } = document;
  return {
    tls: tlsOf(tls, pems, folder),
    headers: Object.entries(http.headers).filter((header): header is [string, string] => header[1] !== undefined),
    users: new Map(Object.entries(document.basic_auth_users)),
  };
}

function tlsOf(
  tls: WebConfigDocument['tls_server_config'],
  { cert, key, client_ca: ca }: Pems,
  folder: string,
): TlsSettings | undefined {
  if (!cert || !key) return undefined;
  const min = tls.min_version ?? 'TLS12';
  const suites = tls.cipher_suites?.length
    ? [...new Set([...tls.cipher_suites, ...SUITES_1_3])].map((name) => SUITES.get(name) ?? name).join(':')
    : undefined;
  // At its default security level OpenSSL refuses versions before TLS 1.2.
  const isOld = min === 'TLS10' || min === 'TLS11';
  return {
    context: {
      cert: cert.text,
      key: key.text,
      minVersion: VERSIONS[min],
      maxVersion: VERSIONS[tls.max_version ?? 'TLS13'],
      honorCipherOrder: tls.prefer_server_cipher_suites ?? true,
      ca: ca?.text,
      ciphers: isOld ? `${suites ?? 'DEFAULT'}:@SECLEVEL=0` : suites,
      ecdhCurve: tls.curve_preferences?.map((curve) => CURVES[curve]).join(':') || undefined,
    },
    clients: CLIENT_POLICIES[tls.client_auth_type ?? 'NoClientCert'],
    allowedSans: tls.client_allowed_sans,
    source: { section: tls, folder },
  };
}
