import { existsSync } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { dirname } from 'node:path';
import { STATUSES } from '../../api/answers/validators.ts';
import { mediaTypeOf, readBody } from '../../api/body.ts';
import { EVALUATION_WINDOWS } from '../../api/endpoints.ts';
import { isFailure } from '../../api/errors.ts';
import type { Answer, Transport, WireRequest } from '../../api/transport.ts';
import type { Settings } from '../../exporter/settings.ts';
import { CHAIN_NAMES } from '../../facts/chain.ts';
import { VERSION } from '../../facts/version.ts';
import { sourcesOf } from '../../sources/registry.ts';
import { codeOf } from '../../toolkit/lib/error-code.ts';
import { isObject } from '../../toolkit/lib/is-object.ts';
import { createFile } from '../../toolkit/state/whole-file.ts';
import { CommandRefused } from '../refusals.ts';

export interface Exchange {
  readonly request: WireRequest;
  /** Absent: no answer came. */
  readonly answer?: Answer;
  /** The JSON of the answer, or why there is none. */
  readonly body: unknown;
}

/** Keeps each exchange, also the body of a failure. The caller reads the same bytes as without it. */
export function recorded(send: Transport, keep: (exchange: Exchange) => void): Transport {
  return async (request, signal) => {
    const answer = await send(request, signal).catch((error: unknown) => {
      keep({ request, body: error });
      throw error;
    });
    const chunks: Uint8Array[] = [];
    async function* kept(): AsyncGenerator<Uint8Array> {
      for await (const chunk of answer.body()) {
        chunks.push(chunk);
        yield chunk;
      }
    }
    const body = await readBody(request.endpoint, kept()).catch((error: unknown) => error);
    async function* again(): AsyncGenerator<Uint8Array> {
      yield* chunks;
      if (body instanceof Error && !isFailure(body, 'invalid_body')) throw body;
    }
    keep({ request, answer, body });
    return { ...answer, body: again, discard: () => undefined };
  };
}

/** Pure. The forms of all exchanges, as Markdown for an issue. */
export function publicReportOf(exchanges: readonly Exchange[], { key, config }: Settings): string {
  const bodies = exchanges.map(({ body }) => body);
  const names = sourcesOf(config).flatMap(({ more }) => [...(more?.probe?.names?.(bodies) ?? [])]);
  const secrets = new Set<unknown>([key, ...names]);
  const forms = exchanges.map(({ request, answer, body }) => ({
    request: `${request.method} ${request.path.replace(/\/\d+(?=\/|$)/g, '/N')}`,
    accept: request.headers['accept'],
    body: request.body && shapeOf([JSON.parse(request.body)], secrets),
    status: answer?.status,
    headers: answer && headersOf(answer),
    answer: body instanceof Error ? body.message.replace(`${request.endpoint}: `, '') : shapeOf([body], secrets),
  }));
  const title = `Requests and responses of beaconchain-exporter ${VERSION}, without names, indices, keys and amounts:`;
  return `${title}\n\n\`\`\`json\n${JSON.stringify(forms, null, 1)}\n\`\`\`\n`;
}

const OF_LIMITS = /^((x-)?ratelimit-[a-z-]{1,40}|retry-after|x-beaconchain-version)$/;
/** Values that reveal only the limits of the account and what is left of them. Other buckets may name a customer. */
const SHOWN =
  /^((x-)?ratelimit-(limit|remaining|reset)(-[a-z]+)?: \d+|ratelimit-(bucket: (default|app|machine|oldsubnewapi)|window: (second|minute|hour|day|month)|validapikey: (true|false))|retry-after: \d+|x-beaconchain-version: [\d.]+)$/;

function headersOf(answer: Answer): string[] {
  const lines = Object.entries(answer.headers).flatMap(([name, value]) => {
    if (!OF_LIMITS.test(name)) return [];
    const line = `${name}: ${value}`;
    return [SHOWN.test(line) ? line : name];
  });
  return [`content-type: ${mediaTypeOf(answer)}`, ...lines.sort()];
}

/** The form of values: their kinds, the fields of an object, the items of a list. It has no value of the user. */
type Shape = string | { readonly [what: string]: Shape | readonly Shape[] };

/** Texts that are shown, by the name of their field. Each is one of a short list that all users share. */
const SHARED = new Map<string, readonly string[]>([
  ['chain', CHAIN_NAMES],
  ['evaluation_window', EVALUATION_WINDOWS],
  ['finality', ['finalized', 'not_finalized']],
  ['prefix', ['0x00', '0x01', '0x02']],
  ['type', ['execution_address']],
  ['status', ['OK', '0', '1', '2', '3', ...STATUSES]],
  ['view', ['latest', 'next']],
]);

/** The first that fits. The number of hexadecimal digits tells a key, a root and an address apart. */
const KINDS_OF_TEXT: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['empty text', /^$/],
  ['whole number as text', /^-?\d+$/],
  ['fraction as text', /^-?\d+\.\d+$/],
  ['hex after 0x', /^0x[\da-f]*$/i],
  ['hex', /^[\da-f]{32,}$/i],
];

/** Answers have fewer levels. More could exhaust the stack. */
const MAX_DEPTH = 10;

/**
 * Pure. The common form of some values, such as all records of a list. `?` marks a field that only some of them have.
 * @param secrets Words that are not shown, not even as the name of a field
 */
export function shapeOf(values: readonly unknown[], secrets: ReadonlySet<unknown>, field = '', depth = 0): Shape {
  if (depth > MAX_DEPTH) return 'deeper than shown';
  const inside = (inner: readonly unknown[], name = ''): Shape => shapeOf(inner, secrets, name, depth + 1);
  const [lists, objects] = [values.filter(Array.isArray), values.filter(isObject)];
  const kinds = values.filter((value) => value === null || typeof value !== 'object').map((one) => kindOf(one, field));
  const fields = Map.groupBy(objects.flatMap(Object.entries<unknown>), ([name]) =>
    isFieldName(name) && !secrets.has(name) ? name : 'names that may be data',
  );
  const members = [...fields].map(([name, entries]): [string, Shape] => {
    const inner = entries.map(([, value]) => value);
    return [entries.length < objects.length ? `${name}?` : name, inside(inner, name)];
  });
  const shapes: Shape[] = [
    ...(kinds.length > 0 ? [[...new Set(kinds)].sort().join(' | ')] : []),
    ...(lists.length > 0 ? [{ [lengthOf(lists)]: inside(lists.flat()) }] : []),
    ...(objects.length > 0 ? [Object.fromEntries(members)] : []),
  ];
  return shapes.length > 1 ? { 'one of': shapes } : (shapes[0] ?? 'no item');
}

function lengthOf(lists: readonly (readonly unknown[])[]): string {
  const lengths = lists.map(({ length }) => length).sort((a, b) => a - b);
  return `list of ${[...new Set([lengths[0], lengths.at(-1)])].join(' to ')}`;
}

/** Words in snake_case or camelCase. Indices, keys, cursors and most names of machines are not. */
function isFieldName(name: string): boolean {
  const isWord = /^[a-z][a-z\d_]*([A-Z][a-z\d]+)*$/.test(name);
  return isWord && name.length <= 40 && name.replace(/\D/g, '').length <= 2;
}

function kindOf(value: unknown, field: string): string {
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'fraction';
  if (typeof value !== 'string') return String(value);
  if (SHARED.get(field)?.includes(value)) return `'${value}'`;
  const kind = KINDS_OF_TEXT.find(([, pattern]) => pattern.test(value))?.[0] ?? 'text';
  return kind.startsWith('hex') ? `${kind}, ${value.replace(/^0x/i, '').length} digits` : kind;
}

/** @throws CommandRefused if a new file cannot be written here */
export async function expectNewFile(file: string): Promise<void> {
  if (existsSync(file)) throw new CommandRefused(`--report: ${file} exists: choose another file or remove it`);
  await access(dirname(file), constants.W_OK).catch((error: unknown) => refuse(file, error));
}

/** @throws CommandRefused */
export async function writeReport(file: string, report: string): Promise<string> {
  await createFile(file, report, 0o644).catch((error: unknown) => refuse(file, error));
  return `${file} has the forms of requests and responses for an issue. It has no names, indices, keys or amounts.\n`;
}

function refuse(file: string, error: unknown): never {
  throw new CommandRefused(`--report: ${file} cannot be written: ${codeOf(error)}`);
}
