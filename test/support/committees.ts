import { expect } from 'vitest';
import type { ApiRequest } from '../../src/api/client.ts';
import { SECONDS_PER_EPOCH } from '../../src/lib/chain.ts';
import type { Family } from '../../src/metrics/family.ts';
import { syncCommitteeSource } from '../../src/sources/sync-committee/index.ts';
import type { MembersOptions } from '../../src/sources/sync-committee/options.ts';
import type { SyncCommittee } from '../../src/sources/sync-committee/schema.ts';
import { type FakeApi, fakeApi } from './fake-api.ts';
import { samplesOf, sampleValue } from './samples.ts';
import { attempts, HOUR, MINUTE, noSignal, timing } from './timing.ts';

/** 2026-03-19 17:20:23 UTC, the start of mainnet period 1700 (api-facts 4), in seconds. */
export const START_1700 = 1606824023 + 435200 * SECONDS_PER_EPOCH;
export const PERIOD = 98_304_000;

/** Unix ms at which a period of mainnet ends. */
export function endOf(period: number): number {
  return (START_1700 + (period + 1 - 1700) * 98_304) * 1000;
}

/** The v2 answer for a period of mainnet. */
export function periodAnswer(period: number): unknown {
  const start = START_1700 + (period - 1700) * 98_304;
  return {
    data: { period, finality: 'not_finalized' },
    range: {
      slot: { start: period * 8192, end: period * 8192 + 8191 },
      epoch: { start: period * 256, end: period * 256 + 255 },
      timestamp: { start, end: start + 98_303 },
    },
  };
}

/** The v1 answer for the members of a period, in committee order, written by the facts sheet. */
export function membersAnswer(period: number, validators: readonly unknown[]): unknown {
  return {
    status: 'OK',
    data: { period, start_epoch: period * 256, end_epoch: period * 256 + 255, validators },
  };
}

/** v1 answers like this for a committee that is not in its database. */
export const NOT_KNOWN_YET = { status: 'OK', data: [] };

/** The last part of what was asked for: `sync-committee` for the period, else the committee. */
export function asked(requests: readonly Pick<ApiRequest, 'path'>[]): (string | undefined)[] {
  return requests.map(({ path }) => path.split('/').at(-1));
}

/** Watches the validators below 100. */
export function membersOptions(overrides: Partial<MembersOptions> = {}): MembersOptions {
  return { isWatched: (validator) => validator < 100, operatorAt: 0, onRefused: () => undefined, ...overrides };
}

/** Shortly after the start of period 1700. */
export const NOW = endOf(1699) + 10 * MINUTE;
const COUNT = 'beaconchain_watched_sync_committee_validators';
const ONE = 'beaconchain_watched_sync_committee_validator';

export function sourceOf(members?: MembersOptions) {
  return syncCommitteeSource({ chain: 'mainnet', intervalMs: HOUR, members });
}

export const SOURCE = sourceOf(membersOptions());

export interface Service {
  period?: number;
  /** Validators by period. */
  committees?: Record<number, readonly unknown[]>;
  /** In place of an answer about members. */
  instead?: (selector: string, request: ApiRequest) => unknown;
}

export function serviceOf({ period = 1700, committees = {}, instead = () => undefined }: Service = {}): FakeApi {
  return fakeApi((request) => {
    if (request.endpoint === 'sync_committee') return periodAnswer(period);
    const selector = request.path.split('/').at(-1) ?? '';
    const spoilt = instead(selector, request);
    if (spoilt !== undefined) return spoilt;
    const number = selector === 'next' ? period + 1 : Number(selector);
    const validators = committees[number];
    return validators ? membersAnswer(number, validators) : NOT_KNOWN_YET;
  });
}

export async function poll(api: FakeApi, previous: SyncCommittee = {}, now = NOW, source = SOURCE) {
  const result = await source.poll(api, previous, timing({ now, intervalMs: HOUR }), noSignal());
  return { ...result, value: source.state.parse(JSON.parse(JSON.stringify(result.value))) };
}

export async function stateAfter(service: Service, previous?: SyncCommittee, now?: number): Promise<SyncCommittee> {
  return (await poll(serviceOf(service), previous, now)).value;
}

export function shown(state: SyncCommittee, now = NOW, source = SOURCE): Record<string, string[] | undefined> {
  const families = source.families(state, timing({ now }));
  return Object.fromEntries(['current', 'next'].map((period) => [period, membersIn(families, period)]));
}

/** The validators with a series; undefined where not even their number is known. */
function membersIn(families: readonly Family[], period: string): string[] | undefined {
  const series = samplesOf(families, ONE).filter(({ labels }) => labels['period'] === period);
  const count = sampleValue(families, COUNT, { chain: 'mainnet', period });
  expect(series.length).toBe(count ?? 0);
  expect(series.every(({ value, labels }) => value === 1 && labels['chain'] === 'mainnet')).toBe(true);
  return count === undefined ? undefined : series.map(({ labels }) => labels['validator'] ?? '');
}

export function due(
  state: SyncCommittee,
  lastAttemptAt: number,
  { now = lastAttemptAt, failing = false, source = SOURCE } = {},
) {
  return source.due(
    state,
    attempts(lastAttemptAt, { failuresInARow: failing ? 1 : 0 }),
    timing({ now, intervalMs: HOUR }),
  );
}

export const COMMITTEES = { 1700: [7, 500_000, 12, 7, 7, 99, 100], 1701: [500_001, 3] };
export const KNOWN: Service = { committees: COMMITTEES };
