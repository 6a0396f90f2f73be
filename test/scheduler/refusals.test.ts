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
    'is refused by a second %s at least ten minutes later, for a day',
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
    ['one', bad(NOW)],
    ['two over an hour', bad(NOW, NOW + HOUR)],
    ['three within less than an hour', bad(NOW, NOW + MINUTE, NOW + HOUR - 1)],
    ['a hundred within less than an hour', bad(...Array.from({ length: 100 }, (_, i) => NOW + i * 1_000))],
  ])('is not refused by 400, which may pass: %s', (_, refused) => {
    expect(refusedAfter(...refused)).toBe(0);
  });

  it('is refused by the third 400 over an hour, for a day, and by one more for another day', () => {
    const three = bad(NOW, NOW + MINUTE, NOW + HOUR);
    expect(refusedAfter(...three)).toBe(NOW + HOUR + DAY);
    expect(refusedAfter(...three, ...bad(NOW + HOUR + DAY))).toBe(NOW + HOUR + 2 * DAY);
  });

  it('is requested again where the clock was set back behind the last attempt, and is refused until it works', () => {
    const refusals = refusalsAfter([NOW, 'forbidden'], [NOW + HOUR, 'forbidden']);
    expect(refusedUntil(refusals, PART, NOW + HOUR - 1)).toBe(0);
    expect(isRefused(refusals, PART)).toBe(true);
  });
});

/** What a request ends with. */
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
    // As if it were the first attempt, because the time of the next one is no matter here.
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
  it('fail, ten minutes apart, until the refusal is confirmed, which is an event once', async () => {
    const first = await attempts(NAMES, [0, 'forbidden']);
    expect([first.failure, first.events]).toMatchObject([{ reason: 'forbidden' }, []]);
    // And not an interval apart.
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
  ])('begin a new row after %s', async (_, request, result) => {
    const { entry, events } = await attempts(request, [0, 'forbidden'], [MINUTE, result]);
    expect(entry.refusals).toEqual({});
    const later = await attempts(request, [0, 'forbidden'], [MINUTE, result], [TEN, 'forbidden']);
    expect([...events, ...later.events]).toEqual([]);
    const refused = await attempts(request, [0, 'forbidden'], [TEN, 'forbidden'], [DAY, result]);
    expect(refused.entry.refusals).toEqual({});
  });

  it('with more than 20 identifiers are not refused by 403, because the service may take fewer, but by 405', async () => {
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

  it('are made at once after a start or a reload, and the part counts as refused until one works', async () => {
    const { source, entry, now } = await attempts(NAMES, [0, 'forbidden'], [TEN, 'forbidden']);
    // Twice, as by processes that do not live long.
    const again = doubtingRefusals(source, doubtingRefusals(source, entry));
    expect(scheduleAt(source, again, now + 1).first.nextAttemptAt).toBeLessThanOrEqual(now + 1);
    // It takes as many attempts as a new one to be confirmed.
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

  it('of a part that is refused cost nothing and are a day apart, however stretched the interval was before', async () => {
    const { source, entry, now } = await attempts(NAMES, [0, 'forbidden'], [TEN, 'forbidden']);
    expect(scheduleAt(source, entry, now).first.pace.requestsPerDay).toBe(0);
    const only = { ...(entry.reads['only'] as Attempt), intervalMs: 20 * DAY, isStretched: true } as const;
    const stretched = { ...entry, reads: { only } };
    expect(scheduleAt(source, stretched, now).first.nextAttemptAt).toBe(now + DAY);
  });
});

describe('what v1 used to give', () => {
  const SLOTS = requestTo('epoch_slots', { chain: 'mainnet', epoch: 'latest', priority: 'head_pass' });

  /** Answers it so each minute from `from` on, and tells at which minutes it was asked. */
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

  it('that is not found for an hour has ended: it is asked once an hour, which is told, until it is back', async () => {
    const { at, events, entry } = await asked((minute) => (minute === 0 || minute >= 200 ? 'ok' : 'not_found'), 245);
    expect(events).toEqual(['read_ended']);
    // The hour begins with the first 404.
    expect(at.filter((minute) => minute >= 60)).toEqual([60, 61, 121, 181, 241, 242, 243, 244, 245]);
    expect(entry?.reads['only']).not.toHaveProperty('notFoundSince');
  });

  it.each<[string, (minute: number) => Result]>([
    ['was never answered', () => 'not_found'],
    ['is found once in the hour', (minute) => (minute % 50 === 0 ? 'ok' : 'not_found')],
    ['is away', (minute) => (minute === 0 ? 'ok' : 'server_error')],
  ])('that %s has not', async (_, results) => {
    const { at, events } = await asked(results, 130);
    expect(at.at(-1)).toBeGreaterThan(115);
    expect(events).toEqual([]);
  });

  it('has not ended through failures that are not its own, and an optional part is refused instead', async () => {
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
