import { getCiphers, type SecureVersion } from 'node:tls';
import { isObject } from '../lib/is-object.ts';
import { type Finding, notBoth } from '../yaml/mistakes.ts';
import { valueAt } from '../yaml/value-at.ts';

/**
 * The names of Go's crypto/tls, which the format uses, and those of OpenSSL. The suites are those of
 * https://pkg.go.dev/crypto/tls#CipherSuites: without the ones that Go calls insecure.
 */
const SUITES_1_3: readonly (readonly [go: string, openssl: string])[] = [
  ['TLS_AES_128_GCM_SHA256', 'TLS_AES_128_GCM_SHA256'],
  ['TLS_AES_256_GCM_SHA384', 'TLS_AES_256_GCM_SHA384'],
  ['TLS_CHACHA20_POLY1305_SHA256', 'TLS_CHACHA20_POLY1305_SHA256'],
];

const SUITES: ReadonlyMap<string, string> = new Map([
  ...SUITES_1_3,
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

/** The suites that this Node was built with. */
export function suiteNames(): string[] {
  const known = new Set(getCiphers());
  return [...SUITES].filter(([, openssl]) => known.has(openssl.toLowerCase())).map(([go]) => go);
}

/** The list for OpenSSL. As in Go, only suites for TLS up to 1.2 can be chosen: those of 1.3 are always included. */
export function opensslSuites(names: readonly string[]): string {
  return [...new Set([...names, ...SUITES_1_3.map(([go]) => go)])].map((name) => SUITES.get(name) ?? name).join(':');
}

export const CURVES = { CurveP256: 'P-256', CurveP384: 'P-384', CurveP521: 'P-521', X25519: 'X25519' } as const;

/** Oldest first. */
export const VERSIONS = {
  TLS10: 'TLSv1',
  TLS11: 'TLSv1.1',
  TLS12: 'TLSv1.2',
  TLS13: 'TLSv1.3',
} as const satisfies Record<string, SecureVersion>;

/** Whether a server asks clients for a certificate, requires one, and verifies it with its CAs. */
export interface ClientPolicy {
  readonly isAsked: boolean;
  readonly isRequired: boolean;
  readonly isVerified: boolean;
}

const ANY: ClientPolicy = { isAsked: true, isRequired: true, isVerified: false };

/** https://pkg.go.dev/crypto/tls#ClientAuthType */
export const CLIENT_POLICIES = {
  NoClientCert: { isAsked: false, isRequired: false, isVerified: false },
  RequestClientCert: { isAsked: true, isRequired: false, isVerified: false },
  RequireAnyClientCert: ANY,
  // The older name in exporter-toolkit.
  RequireClientCert: ANY,
  VerifyClientCertIfGiven: { isAsked: true, isRequired: false, isVerified: true },
  RequireAndVerifyClientCert: { isAsked: true, isRequired: true, isVerified: true },
} as const satisfies Record<string, ClientPolicy>;

const SECTION = 'tls_server_config';

/** Keys for the same thing as text and as a file. */
const TEXT_OR_FILE = [
  ['cert', 'cert_file'],
  ['key', 'key_file'],
  ['client_ca', 'client_ca_file'],
] as const;

const ORDER = Object.keys(VERSIONS);

/** Contradictions between keys. Reads the document before the schema does, so that all mistakes are reported together. */
export function tlsFindings(document: unknown): Finding[] {
  const tls = valueAt(document, [SECTION]);
  if (!isObject(tls)) return [];
  const given = Object.keys(tls).filter((key) => isGiven(valueAt(tls, [key])));
  const has = (key: string): boolean => given.includes(key);
  const asksNobody = !has('client_auth_type') || valueAt(tls, ['client_auth_type']) === 'NoClientCert';
  const at = (key: string, message: string): Finding => ({ path: [SECTION, key], message });
  return [
    // An empty section is plain HTTP; one that has only an empty cert_file is a mistake.
    ...(Object.keys(tls).length === 0
      ? []
      : TEXT_OR_FILE.slice(0, 2)
          .filter(([text, file]) => !has(text) && !has(file))
          .map(([text, file]) => at(text in tls ? text : file, `missing one of ${text} or ${file}`))),
    ...TEXT_OR_FILE.filter(([text, file]) => has(text) && has(file)).map(([text, file]) => at(file, notBoth(text))),
    ...['client_ca', 'client_ca_file', 'client_allowed_sans']
      .filter((key) => has(key) && asksNobody)
      .map((key) =>
        at(
          key,
          'clients are not asked for a certificate: set client_auth_type, for example to RequireAndVerifyClientCert',
        ),
      ),
    ...versionFindings(tls),
  ];
}

function isGiven(value: unknown): boolean {
  return value !== null && value !== '' && value !== undefined;
}

function versionFindings(tls: object): Finding[] {
  const [min = 'TLS12', max = 'TLS13'] = ['min_version', 'max_version'].map(
    (key) => valueAt(tls, [key]) as string | undefined,
  );
  if (!ORDER.includes(min) || !ORDER.includes(max) || ORDER.indexOf(min) <= ORDER.indexOf(max)) return [];
  const key = 'max_version' in tls ? 'max_version' : 'min_version';
  return [{ path: [SECTION, key], message: `no TLS version is allowed: the minimum is ${min}, the maximum ${max}` }];
}
