import { beforeEach, describe, expect, it } from 'vitest';
import type { Endpoint } from '../../src/api/endpoints.ts';
import { type FailureReason, RequestFailed } from '../../src/api/errors.ts';
import { emptyLedger } from '../../src/budget/ledger.ts';
import { EventLog } from '../../src/exporter/event-log.ts';
import type { Ended } from '../../src/scheduler/round.ts';
import { PART_REFUSED } from '../../src/scheduler/round.ts';
import type { QuotaWait, Schedule } from '../../src/scheduler/schedules.ts';
import { EVENTS, slashingEvent } from '../../src/sources/slashings/events.ts';
import type { Source } from '../../src/sources/source.ts';
import { logLines } from '../support/log/log-lines.ts';
import { fakeSource } from '../support/runs/fake-source.ts';
import { DAY, HOUR, MINUTE, NOW, timing } from '../support/time/timing.ts';

const machines = fakeSource();
const slashings = fakeSource({
  name: 'slashings',
  chain: 'mainnet',
  events: EVENTS,
  more: { leavesOut: ({ intervalMs }) => (intervalMs > HOUR ? 'no head passes' : '') },
});

let events: EventLog;
/** The lines since the last call, except those at level debug. */
let told: () => Record<string, unknown>[];

beforeEach(() => {
  const { log, lines } = logLines();
  events = new EventLog(log);
  told = () => lines.splice(0).filter(({ level }) => level !== 'debug');
});

type Planned = readonly [source: Source, intervalMs: number, more?: { requestsPerDay?: number; wait?: QuotaWait }];

function schedules(...all: readonly Planned[]): ReadonlyMap<Source, Schedule> {
  return new Map(
    all.map(([source, intervalMs, { wait, requestsPerDay = DAY / intervalMs } = {}]) => {
      const pace = { intervalMs, isStretched: false, beside: [], requestsPerDay };
      const times = { timing: timing({ intervalMs }), mayRunAt: NOW, nextAttemptAt: NOW };
      const first = { read: source.reads[0], bucket: 'default', pace, ...times, wait };
      return [source, { reads: [first], first, leftOut: [] }];
    }),
  );
}

describe('exporter/event-log: odd fields', () => {
  it('logs each endpoint and field once, and again after a start or a reload', () => {
    const odd = { place: 'data.3.balances.current', message: 'expected string, received number' };
    const line = { level: 'warn', msg: 'a field of a record is unreadable', endpoint: 'validators', err: odd.message };
    events.unreadable('validators', odd);
    events.unreadable('validators', { place: 'data.7.balances.current', message: 'expected string, received null' });
    expect(told()).toEqual([expect.objectContaining({ ...line, field: 'data.*.balances.current' })]);
    events.unreadable('validators', { ...odd, place: 'window_7d.1' });
    expect(told()).toEqual([expect.objectContaining({ ...line, field: 'window_7d.*' })]);
    events.begin(emptyLedger().key);
    events.unreadable('validators', { ...odd, place: 'window_7d.1' });
    expect(told()).toHaveLength(1);
  });
});

describe('exporter/event-log: the plan', () => {
  it('logs the interval of each source and the cost of all in one line', () => {
    events.scheduled(schedules([machines, MINUTE], [slashings, MINUTE, { requestsPerDay: 1_890.2 }]), 0);
    const intervals = { machines: '1m', 'slashings-mainnet': '1m' };
    const msg = 'polling at the configured intervals';
    expect(told()).toEqual([{ level: 'info', intervals, requests_per_day: 3_331, msg }]);
  });

  it('warns if intervals are stretched, and says what the budget leaves out', () => {
    events.scheduled(schedules([machines, 90 * MINUTE], [slashings, 61.4 * MINUTE, { requestsPerDay: 23 }]), 0);
    const intervals = { machines: '1h30m', 'slashings-mainnet': '1h1m24s (no head passes)' };
    const msg = 'intervals stretched to stay within the limits';
    expect(told()).toEqual([{ level: 'warn', intervals, requests_per_day: 39, msg }]);
  });

  it('logs again when an interval has changed by a quarter, at most once an hour', () => {
    const planned = (intervalMs: number, now: number): number => {
      events.scheduled(schedules([machines, intervalMs]), now);
      return told().length;
    };
    expect(planned(10 * MINUTE, 0)).toBe(1);
    expect(planned(20 * MINUTE, HOUR - 1)).toBe(0);
    expect(planned(12.4 * MINUTE, HOUR)).toBe(0);
    expect(planned(12.5 * MINUTE, HOUR)).toBe(1);
    expect(planned(10 * MINUTE, 2 * HOUR - 1)).toBe(0);
    expect(planned(10 * MINUTE, 2 * HOUR)).toBe(1);
  });
});

describe('exporter/event-log: waits for the quota', () => {
  const month: QuotaWait = { until: Date.UTC(2026, 10, 1), limit: 'month' };

  it('logs once what each source waits for and until when, in place of the plan', () => {
    const waiting = schedules(
      [machines, HOUR, { wait: month }],
      [slashings, HOUR, { wait: { ...month, limit: '429' } }],
    );
    events.scheduled(waiting, 0);
    const waits = {
      machines: 'the monthly quota, until 2026-11-01T00:00:00.000Z',
      'slashings-mainnet': 'the service, which responded with 429, until 2026-11-01T00:00:00.000Z',
    };
    expect(told()).toEqual([{ level: 'warn', waits, msg: 'polling paused until the quota resets' }]);
    events.scheduled(waiting, 20 * DAY);
    expect(told()).toEqual([]);
  });
});

function ended(reason?: FailureReason, endpoint: Endpoint = 'machine_metrics'): Ended {
  return { failure: reason && new RequestFailed(endpoint, reason, 'made up'), isRefused: false };
}

describe('exporter/event-log: reads', () => {
  it('logs a failure when it begins, changes and ends', () => {
    const outcomes = ['network', 'network', 'timeout', undefined, undefined, 'network'] as const;
    for (const reason of outcomes) events.ran(machines, machines.reads[0], ended(reason));
    expect(told()).toEqual([
      { level: 'warn', source: 'machines', err: 'machine_metrics: network (made up)', msg: 'poll failed' },
      { level: 'warn', source: 'machines', err: 'machine_metrics: timeout (made up)', msg: 'poll failed' },
      { level: 'info', source: 'machines', msg: 'poll succeeded again' },
      { level: 'warn', source: 'machines', err: 'machine_metrics: network (made up)', msg: 'poll failed' },
    ]);
  });

  it('does not call a read working again that is refused after failures', () => {
    const [read] = machines.reads;
    events.ran(machines, read, ended('forbidden'));
    events.ran(machines, read, { failure: undefined, isRefused: true });
    events.ran(machines, read, ended());
    expect(told()).toMatchObject([{ msg: 'poll failed' }]);
  });

  it('names the read where a source has several, and logs each by itself', () => {
    const source = fakeSource({ reads: [{ name: 'head' }, { name: 'finalized' }] });
    for (let i = 0; i < 2; i += 1) {
      for (const read of source.reads) events.ran(source, read, ended(read.name === 'head' ? 'network' : undefined));
    }
    expect(told()).toMatchObject([{ level: 'warn', source: 'machines', read: 'head', msg: 'poll failed' }]);
  });
});

describe('exporter/event-log: the key', () => {
  const key = { ...emptyLedger().key, since: NOW };
  const refused = { ...key, standing: 'refused' } as const;
  const REFUSED = {
    level: 'error',
    msg: 'the service refuses the API key',
    since: new Date(NOW).toISOString(),
    help: expect.stringMatching(/beaconcha\.in.* api\.key or api\.key_file .*BEACONCHAIN_API_KEY .*every 10 minutes/),
  };

  it('logs a refused key once with what to do, and again after it was accepted', () => {
    events.keySeen({ ...key, standing: 'valid' });
    for (let i = 0; i < 3; i += 1) events.keyRefused(refused);
    for (let i = 0; i < 2; i += 1) events.keySeen({ ...key, standing: 'valid' });
    events.keyRefused(refused);
    const accepted = { level: 'info', msg: 'the service accepts the API key again' };
    expect(told()).toEqual([REFUSED, accepted, REFUSED]);
  });

  it('logs revoked access once, and once more at a start or a reload', () => {
    const revoked = { ...key, standing: 'revoked' } as const;
    for (let i = 0; i < 2; i += 1) events.keyRefused(revoked);
    const line = {
      ...REFUSED,
      msg: 'the service revoked access',
      help: expect.stringMatching(/renew it .*sends no requests/),
    };
    expect(told()).toEqual([line]);
    events.begin(revoked);
    expect(told()).toEqual([line]);
    // The answer to the one request that a reload may make is logged instead.
    events.begin({ ...revoked, mayProbe: true });
    expect(told()).toEqual([]);
  });

  it('logs once that the key may not read an endpoint, with what to do', () => {
    const help = (endpoint: Endpoint) => {
      const [read] = machines.reads;
      for (let i = 0; i < 2; i += 1) events.ran(machines, read, ended('forbidden', endpoint));
      events.ran(machines, read, ended());
      const [failed, ...rest] = told();
      expect(rest).toHaveLength(1);
      return failed?.['help'];
    };
    expect(help('sync_committee')).toMatch(/plan of the account may not .*enabled: false for this source/);
    // A part does not pause its source.
    expect(help('validators')).toMatch(/refuses it again, at least ten minutes later, this part of the source is off/);
  });
});

describe('exporter/event-log: events', () => {
  const watch = [{ first: 50, last: 59 }];
  const MANY = Array.from({ length: 60 }, (_, i) => i);

  it('logs an event with the level and the message of its source', () => {
    events.found(slashings, slashingEvent(watch, { slot: 7, kind: 'double_vote', validators: [1, 2] }));
    const fields = { source: 'slashings', chain: 'mainnet', slot: 7, kind: 'double_vote', validators: [1, 2] };
    expect(told()).toEqual([{ level: 'warn', ...fields, count: 2, watched: 0, msg: 'attester slashing' }]);
  });

  it('warns of every source whose part is refused', () => {
    events.found(machines, { type: PART_REFUSED, part: 'machine_names', err: 'made up' });
    const msg = 'the service refuses a part of a source';
    expect(told()).toEqual([{ level: 'warn', source: 'machines', part: 'machine_names', err: 'made up', msg }]);
  });

  it('logs a slashing of a watched validator as an error, and names watched ones first, twenty in all', () => {
    events.found(slashings, slashingEvent(watch, { slot: 7, kind: 'surround_vote', validators: MANY }));
    const validators = [...MANY.slice(50), ...MANY.slice(0, 10)];
    const expected = { level: 'error', msg: 'watched validator slashed', validators, count: 60, watched: 10 };
    expect(told()).toEqual([expect.objectContaining(expected)]);
  });
});
