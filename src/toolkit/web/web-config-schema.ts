import * as z from 'zod';
import type { Milliseconds } from '../lib/time.ts';
import { either, flag, optional, section } from '../yaml/fields.ts';
import { CLIENT_POLICIES, CURVES, suiteNames, VERSIONS } from './tls-rules.ts';

// Errors are written as in yaml/fields.ts.

/** exporter-toolkit treats a key with null or an empty string as absent. */
function filled<S extends z.ZodType>(schema: S) {
  return z.preprocess((value) => (value === null || value === '' ? undefined : value), schema.optional());
}

function keysOf<T extends object>(names: T) {
  return Object.keys(names) as [keyof T & string, ...(keyof T & string)[]];
}

function oneOf<T extends object>(names: T) {
  return z.enum(keysOf(names), { error: either(keysOf(names)) });
}

const file = filled(z.string({ error: 'the path of a file' }));
const version = oneOf(VERSIONS);
const suites = suiteNames();

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
  cipher_suites: listOf(
    z.enum(suites as [string, ...string[]], { error: `one of ${suites.join(', ')}` }),
    'a list of cipher suites',
  ),
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
const Headers = section({
  'Content-Security-Policy': header,
  'X-Frame-Options': filled(z.enum(['deny', 'sameorigin'], { error: 'deny or sameorigin' })),
  'X-Content-Type-Options': filled(z.literal('nosniff', { error: 'nosniff' })),
  'X-XSS-Protection': header,
  'Strict-Transport-Security': header,
});

const Http = section({ http2: filled(flag), headers: optional(Headers) });

const BCRYPT = /^\$2[aby]\$(?:0[4-9]|[12]\d|3[01])\$[./A-Za-z0-9]{53}$/;

const hash = z.custom<string>((value) => typeof value === 'string' && BCRYPT.test(value), {
  error: 'expected a bcrypt hash of the password, as printed by `htpasswd -nBC 10 "" | tr -d ":\\n"`',
});

const UNITS_MS: Readonly<Record<string, Milliseconds>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

// Both characters for micro, as escapes: the build cannot write an escape in a regular expression.
const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/y;

/** A duration such as `1m30s` or `0.5s`; undefined for any other text. https://pkg.go.dev/time#ParseDuration */
export function parseGoDuration(text: string): Milliseconds | undefined {
  if (text === '0') return 0;
  let ms = 0;
  PART.lastIndex = 0;
  for (let read = 0; read < text.length; read = PART.lastIndex) {
    const [, amount, unit] = PART.exec(text) ?? [];
    if (unit === undefined) return undefined;
    ms += Number(amount) * (UNITS_MS[unit] ?? Number.NaN);
  }
  return text === '' ? undefined : ms;
}

const DURATION = 'a duration such as 1s or 100ms';

const RateLimit = section({
  interval: filled(
    z
      .preprocess((value) => (value === 0 ? '0' : value), z.string({ error: DURATION }))
      .refine((text) => parseGoDuration(text) !== undefined, { error: `expected ${DURATION}` })
      .transform((text) => parseGoDuration(text) ?? 0),
  ),
  burst: filled(z.int({ error: 'a whole number' }).min(0, { error: 'a whole number of at least 0' })),
});

/** https://github.com/prometheus/exporter-toolkit/blob/master/docs/web-configuration.md */
export const WebConfigDocument = optional(
  section({
    tls_server_config: optional(Tls),
    http_server_config: optional(Http),
    basic_auth_users: optional(z.record(z.string(), hash, { error: 'a mapping of names to bcrypt hashes' })),
    rate_limit: optional(RateLimit),
  }),
);
export type WebConfigDocument = z.output<typeof WebConfigDocument>;
