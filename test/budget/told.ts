import { type Bucket, type BudgetOptions, chargeBucket, observeBucket, settled } from '../../src/budget/bucket.ts';
import { type Headers, readHeaders } from '../../src/budget/headers.ts';
import { answered, type Ledger, opensAt as opensAtOn } from '../../src/budget/ledger.ts';
import { HELD_FOR_MS } from '../../src/toolkit/lib/held-time.ts';
import { NOW } from '../support/time/timing.ts';

const ALL = { utilization: 1 };

/** An answer, and the time at which it arrives. */
export interface Told {
  readonly status?: number;
  readonly revoked?: boolean;
  readonly at?: number;
  readonly isProbe?: boolean;
  readonly headers?: Headers;
}

/** The ledger after an answer on a route. */
export function told(ledger: Ledger, route: string, answer: Told = {}): Ledger {
  const { status = 200, revoked = false, at = NOW, isProbe = false, headers = {} } = answer;
  const observation = readHeaders(headers, at);
  return answered(ledger, route, { isProbe, status, revoked, observation, unaccounted: 0 }, ALL, at);
}

export function opensAt(ledger: Ledger, route: string): number {
  return opensAtOn(ledger, route, ALL, NOW);
}

export const OCTOBER = Date.UTC(2026, 9, 1);
export const NOVEMBER = Date.UTC(2026, 10, 1);
/** The time at which a month that was used up opens again. */
export const RENEWAL = NOVEMBER + HELD_FOR_MS;
export const BUDGET_OPTIONS: BudgetOptions = { utilization: 0.9 };

interface Exchange {
  readonly at?: number;
  /** Default: `at`. */
  readonly held?: number;
  readonly options?: BudgetOptions;
  readonly status?: number;
}

/** The bucket at a time that has held for two minutes. */
export function held(bucket: Bucket, now: number): Bucket {
  return settled(bucket, { now, held: now });
}

/** The bucket after a request left and its answer came at the same moment. */
export function toldBucket(bucket: Bucket, said: Headers, exchange: Exchange = {}): Bucket {
  const { at = OCTOBER, held = at, options = BUDGET_OPTIONS, status = 200 } = exchange;
  const charged = chargeBucket(settled(bucket, { now: at, held }), options, at);
  return observeBucket(charged, { status, observation: readHeaders(said, at), unaccounted: 0 }, options, at);
}
