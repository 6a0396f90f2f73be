import { describe, expect, it } from 'vitest';
import { type ApiRequest, requestTo } from '../../src/api/endpoints.ts';
import { type FailureReason, RequestFailed } from '../../src/api/errors.ts';
import { type Attempt, doubtingRefusals, type Entry } from '../../src/scheduler/entry.ts';
import { isRefused, type Refusals, refusedUntil, withRefusal } from '../../src/scheduler/refusals.ts';
import type { SourceEvent } from '../../src/sources/read.ts';
import type { Source } from '../../src/sources/source.ts';
import { answering, failed, fakeApi } from '../support/answers/fake-api.ts';
import { fakeSource } from '../support/runs/fake-source.ts';
import { type RoundResult, round, scheduleAt } from '../support/runs/round.ts';
import { DAY, HOUR, MINUTE, NOW } from '../support/time/timing.ts';

const PART = 'proposer_slashings';

type Refused = readonly [at: number, reason: FailureReason];

function refusalsAfter(...refused: readonly Refused[]): Refusals {
  return refused.reduce<Refusals>((before, [at, reason]) => {
    return withRefusal(before, PART, new RequestFailed(PART, reason, 'made up'), at);
  }, {});
}

function refusedAfter(...refused: readonly Refused[]): number {
  return refusedUntil(refusalsAfter(...refused), PART, Number.POSITIVE_INFINITY);
}

/** Failures with 400 at these times. */
function bad(...times: readonly number[]): Refused[] {
  return times.map((at) => [at, 'bad_request']);
}

describe('a part of a source', () => {
  it.each<FailureReason>(['forbidden', 'not_found', 'method_not_allowed'])(
    'is refused for a day by a second %s at least ten minutes later',
    (reason) => {
      const later = NOW + 10 * MINUTE;
      expect(refusedAfter([NOW, reason])).toBe(0);
      expect(refusedAfter([NOW, reason], [later - 1, reason])).toBe(0);
      expect(refusedAfter([NOW, reason], [later, reason])).toBe(later + DAY);
      expect(refusedAfter([NOW, reason], [later, 'forbidden'])).toBe(later + DAY);
      expect(refusedAfter([NOW, 'bad_request'], [later, reason])).toBe(0);
    },
  );

  it.each<[string, Refused[]]>([
    ['a single one', bad(NOW)],
    ['two over an hour', bad(NOW, NOW + HOUR)],
    ['three within less than an hour', bad(NOW, NOW + MINUTE, NOW + HOUR - 1)],
    ['a hundred within less than an hour', bad(...Array.from({ length: 100 }, (_, i) => NOW + i * 1_000))],
  ])('is not refused by 400s that may pass: %s', (_, refused) => {
    expect(refusedAfter(...refused)).toBe(0);
  });

  it('is refused for a day by the third 400 within at least an hour, and by one more for another day', () => {
    const three = bad(NOW, NOW + MINUTE, NOW + HOUR);
    expect(refusedAfter(...three)).toBe(NOW + HOUR + DAY);
    expect(refusedAfter(...three, ...bad(NOW + HOUR + DAY))).toBe(NOW + HOUR + 2 * DAY);
  });

  it('is requested again if the clock was set back, but stays refused until it works', () => {
    const refusals = refusalsAfter([NOW, 'forbidden'], [NOW + HOUR, 'forbidden']);
    expect(refusedUntil(refusals, PART, NOW + HOUR - 1)).toBe(0);
    expect(isRefused(refusals, PART)).toBe(true);
  });
});

/** The outcome of a request. */
type Result = FailureReason | 'ok';

const NAMES = requestTo('machine_names', {});
const STATUS = requestTo('validators', { chain: 'mainnet', identifiers: [1] });

function sourceAsking(request: ApiRequest): Source {
  return fakeSource({
    endpoints: [request.endpoint],
    everyMs: 6 * HOUR,
    async run(value, { api, signal }) {
      await api.request(request, signal);
      return { value };
    },
  });
}

/** An attempt after each of these waits. */
async function attempts(request: ApiRequest, ...results: readonly (readonly [waitMs: number, result: Result])[]) {
  const source = sourceAsking(request);
  const events: SourceEvent[] = [];
  let [now, entry, failure]: [number, Entry | undefined, Error | undefined] = [NOW, undefined, undefined];
  for (const [waitMs, result] of results) {
    now += waitMs;
    const api = {
      ...answering({}),
      now: () => now,
      async request(): Promise<never> {
        if (result !== 'ok') throw failed(request, result);
        return undefined as never;
      },
    };
    // Without the earlier attempts, so that the read is due.
    const done: RoundResult<unknown> = await round(source, api, entry && { ...entry, reads: {} }, { now });
    expect(done.ran).toEqual(['only']);
    ({ entry, failure } = done);
    events.push(...done.events);
  }
  if (!entry) throw new TypeError('no attempt');
  return { source, now, entry, failure, events };
}

const TEN = 10 * MINUTE;

describe('the attempts at a read', () => {
  it('fail ten minutes apart until the refusal is confirmed, which is reported once', async () => {
    const first = await attempts(NAMES, [0, 'forbidden']);
    expect([first.failure, first.events]).toMatchObject([{ reason: 'forbidden' }, []]);
    // Not an interval later.
    expect(scheduleAt(first.source, first.entry, first.now).first.nextAttemptAt).toBe(first.now + TEN);
    const second = await attempts(NAMES, [0, 'forbidden'], [TEN, 'forbidden']);
    const err = 'machine_names: forbidden (made up)';
    expect(second.events).toEqual([{ type: 'part_refused', part: 'machine_names', err }]);
    expect(second.failure).toBeUndefined();
    const third = await attempts(NAMES, [0, 'forbidden'], [TEN, 'forbidden'], [DAY, 'forbidden']);
    expect(third.events).toEqual(second.events);
    expect(scheduleAt(third.source, third.entry, third.now).first.nextAttemptAt).toBe(third.now + DAY);
  });

  it.each<[string, ApiRequest, Result]>([
    ['a success', NAMES, 'ok'],
    ['a 404 that means that none of the validators was found', STATUS, 'not_found'],
  ])('start a new row after %s', async (_, request, result) => {
    const { entry, events } = await attempts(request, [0, 'forbidden'], [MINUTE, result]);
    expect(entry.refusals).toEqual({});
    const later = await attempts(request, [0, 'forbidden'], [MINUTE, result], [TEN, 'forbidden']);
    expect([...events, ...later.events]).toEqual([]);
    const refused = await attempts(request, [0, 'forbidden'], [TEN, 'forbidden'], [DAY, result]);
    expect(refused.entry.refusals).toEqual({});
  });

  it('with more than 20 identifiers are refused by 405, but not by 403, because the service may accept fewer', async () => {
    const of = (count: number) =>
      requestTo('validators_rewards', { chain: 'mainnet', identifiers: Array.from({ length: count }, (_, i) => i) });
    const eventsAfter = async (count: number, reason: Result) => {
      const { events } = await attempts(of(count), [0, reason], [TEN, reason]);
      return events.length;
    };
    expect(await eventsAfter(21, 'forbidden')).toBe(0);
    expect(await eventsAfter(21, 'method_not_allowed')).toBe(1);
    expect(await eventsAfter(20, 'forbidden')).toBe(1);
  });

  it('follow a start or a reload at once, while the part stays refused until one succeeds', async () => {
    const { source, entry, now } = await attempts(NAMES, [0, 'forbidden'], [TEN, 'forbidden']);
    // Two short-lived processes.
    const again = doubtingRefusals(source, doubtingRefusals(source, entry));
    expect(scheduleAt(source, again, now + 1).first.nextAttemptAt).toBeLessThanOrEqual(now + 1);
    // The confirmation takes as many attempts as that of a new refusal.
    const later = (refusals: Refusals, at: number) =>
      withRefusal(refusals, 'machine_names', failed(NAMES, 'forbidden'), at);
    const [first, second] = [later(again.refusals, now + HOUR), later(later(again.refusals, now), now + TEN)];
    const all = [again.refusals, first, second].map((one) => isRefused(one, 'machine_names'));
    const untils = [first, second].map((one) => refusedUntil(one, 'machine_names', now + DAY));
    expect([all, untils]).toEqual([
      [true, true, true],
      [0, now + TEN + DAY],
    ]);
  });

  it('at a refused part cost nothing and are a day apart, however stretched the interval was', async () => {
    const { source, entry, now } = await attempts(NAMES, [0, 'forbidden'], [TEN, 'forbidden']);
    expect(scheduleAt(source, entry, now).first.pace.requestsPerDay).toBe(0);
    const only = { ...(entry.reads['only'] as Attempt), intervalMs: 20 * DAY, isStretched: true } as const;
    const stretched = { ...entry, reads: { only } };
    expect(scheduleAt(source, stretched, now).first.nextAttemptAt).toBe(now + DAY);
  });
});

describe('a v1 read that used to work', () => {
  const SLOTS = requestTo('epoch_slots', { chain: 'mainnet', epoch: 'latest', priority: 'head_pass' });

  /** Plays a round each minute. Returns the minutes with a request, the events and the last entry. */
  async function asked(results: (minute: number) => Result, minutes: number, request: ApiRequest = SLOTS) {
    const source = fakeSource({
      endpoints: [request.endpoint],
      async run(value, { api, signal }) {
        await api.request(request, signal);
        return { value };
      },
    });
    const at: number[] = [];
    const events: SourceEvent[] = [];
    let entry: Entry | undefined;
    for (let minute = 0; minute <= minutes; minute += 1) {
      const now = NOW + minute * MINUTE;
      const api = fakeApi(() => {
        const result = results(minute);
        if (result !== 'ok') throw failed(request, result);
        return { data: [] };
      });
      const done: RoundResult<unknown> = await round(source, api, entry, { now });
      if (done.ran.length > 0) at.push(minute);
      ({ entry } = done);
      events.push(...done.events);
    }
    return { at, events: events.map(({ type }) => type), entry };
  }

  it('has ended after an hour of 404s: it is tried once an hour, which is reported, until it works again', async () => {
    const { at, events, entry } = await asked((minute) => (minute === 0 || minute >= 200 ? 'ok' : 'not_found'), 245);
    expect(events).toEqual(['read_ended']);
    // The hour begins with the first 404.
    expect(at.filter((minute) => minute >= 60)).toEqual([60, 61, 121, 181, 241, 242, 243, 244, 245]);
    expect(entry?.reads['only']).not.toHaveProperty('notFoundSince');
  });

  it.each<[string, (minute: number) => Result]>([
    ['never worked', () => 'not_found'],
    ['works once in the hour', (minute) => (minute % 50 === 0 ? 'ok' : 'not_found')],
    ['fails otherwise', (minute) => (minute === 0 ? 'ok' : 'server_error')],
  ])('has not ended if it %s', async (_, results) => {
    const { at, events } = await asked(results, 130);
    expect(at.at(-1)).toBeGreaterThan(115);
    expect(events).toEqual([]);
  });

  it('does not end through failures of the network, and an optional part is refused instead', async () => {
    const network = (minute: number): Result => (minute === 0 ? 'ok' : minute === 1 ? 'not_found' : 'network');
    expect((await asked(network, 130)).events).toEqual([]);
    const twice = (minute: number): Result => (minute === 1 || minute === 90 ? 'not_found' : network(minute));
    expect((await asked(twice, 130)).events).toEqual([]);
    const members = requestTo('sync_committee_members', { chain: 'mainnet', period: 'next' });
    expect((await asked((minute) => (minute === 0 ? 'ok' : 'not_found'), 130, members)).events).toEqual([
      'part_refused',
    ]);
  });
});
