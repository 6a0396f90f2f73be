import * as fc from 'fast-check';
import { expect } from 'vitest';
import { RequestFailed } from '../../src/api/errors.ts';
import type { Family } from '../../src/metrics/family.ts';
import type { Source } from '../../src/sources/source.ts';
import { emptyEntry, entrySchema } from '../../src/state/entry.ts';
import { encodeFamilies } from '../support/encode.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import { MINUTE, NOW, noSignal, timing } from '../support/timing.ts';
import { type Fault, fault, oddApi } from './odd-api.ts';

/** A few polls, each with the faults of its first requests. */
export const trouble: fc.Arbitrary<Fault[][]> = fc.array(fc.array(fault, { minLength: 1, maxLength: 6 }), {
  minLength: 1,
  maxLength: 4,
});

/** The value of a source and its families. */
export interface Shown<T> {
  readonly value: T;
  readonly families: Family[];
}

/** The service at a time (Unix ms): the body of the good answer for a path. undefined: there is none. */
export type Service = (now: number) => (path: string) => unknown;

/**
 * Polls with these faults, and then `calm` times without. Fails if anything but RequestFailed is thrown, if a shown
 * value is not a number or a counter is negative, or if a saved value is not read back as it was. `compare` receives
 * each two consecutive values.
 */
export async function pollThrough<T>(
  source: Source<T>,
  service: Service,
  faults: readonly Fault[][],
  calm: number,
  compare: (before: Shown<T>, after: Shown<T>) => void,
): Promise<Shown<T>> {
  let now = NOW;
  let last: Shown<T> = { value: source.empty, families: source.families(source.empty, timing({ now })) };
  for (const ofPoll of [...faults, ...Array.from<Fault[]>({ length: calm }).fill([])]) {
    now += MINUTE;
    const api = oddApi(service(now), ofPoll);
    const value = saved(source, await pollOnce(source, api, last.value, now));
    const families = source.families(value, timing({ now }));
    expectShowable(families);
    const next = { value, families };
    compare(last, next);
    last = next;
  }
  return last;
}

/** Polls as the scheduler does: an error leaves the value as it was. */
async function pollOnce<T>(source: Source<T>, api: ReturnType<typeof oddApi>, previous: T, now: number): Promise<T> {
  try {
    const { value, failure } = await source.poll(api, previous, timing({ now }), noSignal());
    if (failure) expect(failure).toBeInstanceOf(RequestFailed);
    return value;
  } catch (error) {
    if (!(error instanceof RequestFailed)) throw error;
    return previous;
  }
}

/** Saves the value and reads it again, as the next process does. */
function saved<T>(source: Source<T>, value: T): T {
  const written = JSON.parse(JSON.stringify({ ...emptyEntry(source), value }));
  const read = entrySchema(source).parse(written);
  expect(JSON.parse(JSON.stringify(read))).toEqual(written);
  return read.value;
}

/** Fails if a sample is not a number or a counter is negative. */
export function expectShowable(families: readonly Family[]): void {
  const read = parseExposition(Buffer.from(encodeFamilies(families, 'text')).toString());
  for (const { metadata, samples } of read) {
    for (const { name, value } of samples) {
      expect(Number.isFinite(value), `${name} ${value}`).toBe(true);
      if (metadata['TYPE'] === 'counter') expect(value, name).toBeGreaterThanOrEqual(0);
    }
  }
}
