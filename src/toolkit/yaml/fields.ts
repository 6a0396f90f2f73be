import { isIPv4, isIPv6 } from 'node:net';
import * as z from 'zod';
import { DURATION_PATTERN, formatDuration, MS_PER_DAY, parseDuration } from '../lib/duration.ts';
import type { Milliseconds } from '../lib/time.ts';

// The `error` of a schema follows "expected"; the value is added later (mistakes.ts). The error of a `custom` schema is a
// whole sentence, and never shows the value: it may be a secret. That of an unknown key is the list of the known ones.
//
// The `meta` of a schema is for the JSON Schema that editors use, where zod cannot derive it. It checks nothing here.

const DURATION = 'a duration such as 30s, 5m, 1h, 31d';

/** A mapping without other keys. */
export function section<S extends z.ZodRawShape>(shape: S, expected = 'a mapping') {
  const keys = Object.keys(shape).join(', ');
  return z.strictObject(shape, { error: ({ code }) => (code === 'unrecognized_keys' ? keys : expected) });
}

/** A list in words: a, b or c. */
export function either(words: readonly string[]): string {
  return [words.slice(0, -1).join(', '), words.at(-1)].filter(Boolean).join(' or ');
}

/** A section that may be absent or empty. */
export function optional<S extends z.ZodType>(schema: S) {
  return z.preprocess((value) => value ?? {}, schema).meta({ type: ['object', 'null'] });
}

export const SECOND = 1000;

export const flag = z.boolean({ error: 'true or false' });
export const count = z.int({ error: 'a whole number' }).min(1, { error: 'a whole number of at least 1' });
export const positive = z.number({ error: 'a number' }).gt(0, { error: 'a number above 0' });

export function text(expected: string) {
  return z.string({ error: expected }).min(1, { error: expected });
}

/** @param parse Undefined: the text is invalid */
export function parsed<T>(expected: string, parse: (text: string) => T | undefined) {
  return z.string({ error: expected }).transform((text, context) => {
    const value = parse(text);
    if (value !== undefined) return value;
    context.issues.push({ code: 'invalid_format', format: 'text', message: expected, input: text });
    return z.NEVER;
  });
}

/** A century, because times are shown as dates, and dates have a limit. */
const MAX_DURATION_MS = 100 * 365 * MS_PER_DAY;

export function duration(min: Milliseconds, max: Milliseconds = MAX_DURATION_MS) {
  const bounded = z
    .number()
    .min(min, { error: `a duration of at least ${formatDuration(min)}` })
    .max(max, { error: `a duration of at most ${formatDuration(max)}` });
  // YAML reads a bare 0 as a number.
  return z
    .preprocess((value) => (value === 0 ? '0' : value), parsed(DURATION, parseDuration))
    .pipe(bounded)
    .meta({ type: min === 0 ? ['string', 'integer'] : 'string', pattern: DURATION_PATTERN });
}

export function autoOrDuration(min: Milliseconds) {
  const expected = `auto or ${DURATION}`;
  const value = parsed(expected, (text) => (text === 'auto' ? text : parseDuration(text)));
  const bounds = `auto or a duration from ${formatDuration(min)} to ${formatDuration(MAX_DURATION_MS)}`;
  return value
    .pipe(z.union([z.literal('auto'), z.number().min(min, { error: bounds }).max(MAX_DURATION_MS, { error: bounds })]))
    .meta({ pattern: `^auto$|${DURATION_PATTERN}` });
}

/** An http or https URL that paths are appended to, without a slash at the end. */
export const baseUrl = z
  .custom<string>((value) => typeof value === 'string' && isBaseUrl(value), {
    error: 'expected a URL that begins with http:// or https://, without credentials, query or fragment',
  })
  .transform((text) => {
    const { origin, pathname } = new URL(text);
    return origin + pathname.replace(/\/+$/, '');
  })
  .meta({ type: 'string', pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#@]+(?:/[^?#]*)?$' });

function isBaseUrl(text: string): boolean {
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null;
  return url !== null && `${url.username}${url.password}${url.search}${url.hash}` === '';
}

/** No message shows the URL: it may hold a password. */
export const redisUrl = z
  .custom<string>((value) => typeof value === 'string' && isRedisUrl(value), {
    error:
      'expected the URL of one server such as redis://host:6379/0 or rediss://user:password@host:6379, with the password percent-encoded',
  })
  .meta({ type: 'string', pattern: '^[Rr][Ee][Dd][Ii][Ss][Ss]?://(.*@)?[^,]+$' });

function isRedisUrl(text: string): boolean {
  const url = /^rediss?:\/\//i.test(text) ? URL.parse(text) : null;
  // A comma: several hosts, of a cluster or of Sentinels.
  const isHost = url !== null && url.hostname !== '' && !url.hostname.includes(',');
  return isHost && /^(\/\d*)?$/.test(url.pathname) && `${url.search}${url.hash}` === '';
}

const PREFIX = { error: 'letters, digits and any of : . _ { } -' };

export const keyPrefix = z.string(PREFIX).regex(/^[\w:.{}-]{1,100}$/, PREFIX);

export interface ListenAddress {
  /** Absent: every interface. IPv6 addresses are without brackets. */
  readonly host: string | undefined;
  /** 0: any free port. */
  readonly port: number;
}

const LISTEN_ADDRESS = /^(?:\[(.+)\]|([\w.-]+))?:(\d{1,5})$/;

export const ADDRESS = 'host:port, :port, or [::1]:port for IPv6';
const listenAddress = parsed(ADDRESS, parseListenAddress)
  .refine(({ host = '' }) => !/^[\d.]+$/.test(host) || isIPv4(host), {
    error: 'expected an IPv4 address of four numbers from 0 to 255, or a name',
  })
  .meta({ pattern: LISTEN_ADDRESS.source });

/** One address or a list of them. */
export function listenAddresses(byDefault: string) {
  const list = z.array(listenAddress).min(1, { error: `at least one address such as ${byDefault}` });
  return z
    .union([listenAddress, list], { error: `${ADDRESS}, or a list of them` })
    .transform((given) => (Array.isArray(given) ? given : [given]))
    .superRefine((given, context) => {
      for (const [i, one] of given.entries()) {
        const other = given.slice(0, i).find((before) => isSameSocket(before, one) || isSameSocket(one, before));
        if (other) context.addIssue({ code: 'custom', message: overlap(other, one) });
      }
    })
    .prefault(byDefault);
}

/** Without a host, and with [::], a socket takes IPv4 too. */
function isSameSocket({ host = '::', port }: ListenAddress, other: ListenAddress): boolean {
  const covers = host === '::' || host === other.host || (host === '0.0.0.0' && isIPv4(other.host ?? ''));
  return covers && port === other.port && port !== 0;
}

function overlap(one: ListenAddress, other: ListenAddress): string {
  const pair = `${addressText(one)} and ${addressText(other)}`;
  return `${pair} overlap, because an address without a host and [::] take IPv4 too: expected only one of them`;
}

export function addressText({ host = '', port }: ListenAddress): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

export function parseListenAddress(text: string): ListenAddress | undefined {
  const [, ipv6, name, digits] = LISTEN_ADDRESS.exec(text) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65_535 || (ipv6 !== undefined && !isIPv6(ipv6))) return undefined;
  return { host: ipv6 ?? name, port };
}
