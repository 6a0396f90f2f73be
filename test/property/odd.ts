import * as fc from 'fast-check';
import { type Api, type ApiObserver, createApi } from '../../src/api/client.ts';
import { RequestFailed } from '../../src/api/errors.ts';
import type { WireRequest } from '../../src/api/transport.ts';
import { WINDOWS } from '../../src/budget/headers.ts';
import type { Clock } from '../../src/toolkit/lib/clock.ts';
import { writtenAnswer } from '../support/answers/written-answer.ts';
import { NOW } from '../support/time/timing.ts';

// Numbers that JSON allows and doubles cannot hold. The type definitions lack JSON.rawJSON.
const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON(text: string): object;
  isRawJSON(value: unknown): boolean;
};

const LONG = 'x'.repeat(1_000);
const DEEP: unknown = Array.from({ length: 200 }).reduce((inner) => [inner], null);

/** Values of an unexpected type or size. */
const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, -0, -1, 1, 0.5, 5e-324, 1e99, 1.7976931348623157e308, -1e308),
  fc.constantFrom<unknown>(2 ** 31, 2 ** 32, 2 ** 32 + 7, 2 ** 48, Number.MAX_SAFE_INTEGER, 2 ** 53, 1e12, 1e15),
  fc.constantFrom('1e999', '-1e999', '123456789012345678901234567890', '-0.0').map(rawJSON),
  fc.constantFrom<unknown>('', '0', '1', '-1', 'NaN', 'Infinity', '1e99', '0x1', '{1,2}', '{}', '{4294967303}', LONG),
  fc.constantFrom<unknown>('__proto__', 'constructor', 'toString', '\ud83c', '\0', '"\\\n', '\u2028'),
  fc.constantFrom<unknown>([], {}, [[]], [null], DEEP, JSON.parse('{"__proto__": {"timestamp": 1}}')),
  fc.integer(),
  fc.double(),
  fc.string({ unit: 'binary' }),
  fc.jsonValue({ maxDepth: 2 }),
);

type Mutation =
  | { readonly do: 'set'; readonly where: number; readonly value: unknown }
  | { readonly do: 'scale'; readonly where: number; readonly by: number }
  | { readonly do: 'remove' | 'double'; readonly where: number }
  | { readonly do: 'copy'; readonly where: number; readonly from: number };

const where = fc.nat();
const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('set' as const), where, value: oddValue }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('scale' as const),
      where,
      by: fc.constantFrom(-1, 0.5, 2, 10, 1e3, 1e-3, 1e9),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('remove' as const, 'double' as const), where }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('copy' as const), where, from: where }) },
);

/** Turns the body of a good answer into a bad text. */
export type Spoil = (body: unknown) => string;

const NO_JSON = ['', ' ', '\ufeff{}', 'null', '{}', '[]', '0', '"x"', '{"data":null}', '<html>502</html>', '{"data":['];

/** A body with a few random changes, a truncated body, or no body at all. */
export const spoil: fc.Arbitrary<Spoil> = fc.oneof(
  {
    weight: 8,
    arbitrary: mutations().map((all) => named(all, (body) => JSON.stringify(mutated(body, all)))),
  },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 99 }).map((percent) => named({ percent }, cutOff(percent))) },
  { weight: 1, arbitrary: fc.constantFrom(...NO_JSON).map((text) => named(text, () => text)) },
  { weight: 1, arbitrary: oddValue.map((value) => named(value, () => JSON.stringify(value))) },
);

function cutOff(percent: number): Spoil {
  return (body) => {
    const text = JSON.stringify(body);
    return text.slice(0, Math.floor((text.length * percent) / 100));
  };
}

/** Adds the text that fast-check prints if a case fails. */
export function named(what: unknown, run: Spoil): Spoil {
  return Object.assign(run, { [fc.toStringMethod]: () => fc.stringify(what) });
}

/** A few random changes to a JSON value. */
export function mutations(): fc.Arbitrary<Mutation[]> {
  return fc.array(mutation, { minLength: 1, maxLength: 5 });
}

interface Place {
  readonly parent: Record<string, unknown> | unknown[];
  readonly key: string;
}

export function mutated(body: unknown, all: readonly Mutation[]): unknown {
  const root = { body: structuredClone(body) };
  for (const one of all) {
    const places = placesIn(root);
    const place = places[one.where % places.length];
    if (place) apply(one, place, places);
  }
  return root.body;
}

function placesIn(parent: Record<string, unknown> | unknown[]): Place[] {
  return Object.keys(parent).flatMap((key) => {
    const value = (parent as Record<string, unknown>)[key];
    const inside = typeof value === 'object' && value !== null && !isRawJSON(value) ? placesIn(value as never) : [];
    return [{ parent, key }, ...inside];
  });
}

function apply(one: Mutation, { parent, key }: Place, places: readonly Place[]): void {
  const holder = parent as Record<string, unknown>;
  const value = holder[key];
  switch (one.do) {
    case 'set':
      holder[key] = copyOf(one.value);
      return;
    case 'scale':
      if (typeof value === 'number') holder[key] = value * one.by;
      return;
    case 'remove':
      if (Array.isArray(parent)) parent.splice(Number(key), 1);
      else if (key !== 'body') delete parent[key];
      return;
    case 'double':
      if (Array.isArray(parent)) parent.push(copyOf(value));
      return;
    case 'copy': {
      const source = places[one.from % places.length];
      if (source) holder[key] = copyOf((source.parent as Record<string, unknown>)[source.key]);
    }
  }
}

/** Copies through JSON, not with structuredClone: an own `__proto__` stays one, and a raw number becomes null. */
function copyOf(value: unknown): unknown {
  if (isRawJSON(value) || typeof value !== 'object') return value;
  return JSON.parse(JSON.stringify(value));
}

/** The headers of limits. */
export const LIMIT_HEADERS = [
  ...['limit', 'remaining', 'reset', 'window', 'bucket'].map((name) => `ratelimit-${name}`),
  ...WINDOWS.flatMap((window) => [`x-ratelimit-limit-${window}`, `x-ratelimit-remaining-${window}`]),
];
const NAMES = [...LIMIT_HEADERS, 'ratelimit-validapikey', 'retry-after'];

const value = fc.oneof(
  fc.nat(2_000).map(String),
  fc.constantFrom('0', '1', '-1', '', ' ', '1e3', '1.5', 'NaN', 'Infinity', '999999999999999', '9'.repeat(400), '0x10'),
  fc.constantFrom('Wed, 21 Oct 2015 07:28:00 GMT', 'Fri, 31 Dec 9999 23:59:59 GMT', 'Xxx, 99', '2764800', '2764801'),
  fc.constantFrom('true', 'false', 'TRUE', 'second', 'month', 'year', 'default', '__proto__', 'constructor', 'ü, "'),
  fc.string({ unit: 'binary' }),
);

/** Rate-limit headers with arbitrary values. */
export const oddHeaders: fc.Arbitrary<Record<string, string>> = fc.dictionary(fc.constantFrom(...NAMES), value, {
  noNullPrototype: true,
});

/** What happens to one request. Undefined: it gets the good answer. */
export type Fault =
  | { readonly status: number; readonly headers: Record<string, string>; readonly spoil: Spoil }
  | undefined;

const status = fc.oneof(
  { weight: 8, arbitrary: fc.constant(200) },
  { weight: 1, arbitrary: fc.constantFrom(201, 204, 301, 302, 400, 401, 403, 404, 405, 418, 429, 500, 502, 503, 599) },
);

export const fault: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 1, arbitrary: fc.constant(undefined) },
  { weight: 3, arbitrary: fc.record({ status, headers: oddHeaders, spoil }) },
);

/** An answer of the transport, as text. */
export interface Written {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body: string;
}

/** The good answer to a request, or a spoilt one. */
export function spoilt(good: Written, fault: Fault): Written {
  return fault ? { ...fault, body: fault.spoil(JSON.parse(good.body)) } : good;
}

/** The real client with these answers. 'away': no connection. Every wait ends at once. */
export function apiOf(
  answerTo: (request: WireRequest) => Written | 'away',
  now = NOW,
  invalidRecords: ApiObserver['invalidRecords'] = () => undefined,
): Api {
  const nothing = (): void => undefined;
  const clock: Clock = { now: () => now, monotonic: () => now, sleep: async () => undefined };
  const transport = async (request: WireRequest) => {
    const answer = answerTo(request);
    if (answer === 'away') throw new RequestFailed(request.endpoint, 'network', 'made up');
    return writtenAnswer(answer);
  };
  return createApi(
    () => ({ baseUrl: 'http://v2', v1BaseUrls: { mainnet: 'http://v1' }, key: 'k', userAgent: 'test' }),
    {
      transport,
      clock,
      random: () => 0,
      observer: { requested: nothing, failed: nothing, took: nothing, invalidRecords },
      budget: { acquire: async () => ({ release: () => undefined }) },
    },
  );
}
