import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PastRange, Span } from '../../src/api/endpoints.ts';
import { fetchAll } from '../../src/backfill/fetch.ts';
import { makePlan, type Plan, requestsLeft, splitSpan } from '../../src/backfill/plan.ts';
import { Store } from '../../src/backfill/store.ts';
import { machinesHistory } from '../../src/sources/machines/history.ts';
import { type FakeApi, failed, fakeApi, type SentRequest } from '../support/answers/fake-api.ts';
import { machinesOptions, machinesPage, systemRecord } from '../support/answers/machine-records.ts';
import { temporaryFolder } from '../support/files/files.ts';
import { planOf } from '../support/programs/backfill.ts';
import { NOW, noSignal } from '../support/time/timing.ts';
import { VirtualClock } from '../support/time/virtual-clock.ts';

const SECONDS = NOW / 1000;
const HOUR = 3_600;
const END = Math.floor((SECONDS - HOUR) / 600) * 600;
const DAY = 86_400;
const TWO_SLICES = planOf(splitSpan({ start: END - DAY, end: END }, DAY / 2), END);

/** Machines with a record every so many seconds, newest first; the cursor is the number of records that were sent. */
function service(machines: readonly string[], gap = 600) {
  return ({ body }: SentRequest): unknown => {
    const { range, cursor = '0' } = body as { range: { timestamp: { start: number; end: number } }; cursor?: string };
    const { start, end } = range.timestamp;
    const records = [];
    for (let at = Math.floor(end / gap) * gap; at >= start; at -= gap) {
      for (const machine of machines) records.push(systemRecord({ machine, timestamp: at * 1000 }));
    }
    const from = Number(cursor);
    const page = records.slice(from, from + 10);
    return machinesPage({ system: page }, from + 10 < records.length ? String(from + 10) : undefined);
  };
}

function newStore(): Promise<Store> {
  return Store.open(join(temporaryFolder(), 'past.om.backfill'));
}

function dependencies(api: FakeApi) {
  const histories = new Map([['machines', machinesHistory(machinesOptions())]]);
  return { api, clock: new VirtualClock(NOW), signal: noSignal(), onWait: () => undefined, histories };
}

function fetchFrom(api: FakeApi, store: Store, plan: Plan, onPage = (): void => undefined) {
  return fetchAll({ ...dependencies(api), store, onPage }, plan);
}

async function rangesOf(hours: number, fullResolution: boolean): Promise<PastRange[]> {
  const api = fakeApi(() => machinesPage({}));
  const ranges = new Map([['machines', { start: SECONDS - hours * HOUR, end: SECONDS }]]);
  const options = { ranges, fullResolution, flags: {}, now: SECONDS, end: SECONDS };
  const plan = await makePlan({ ...dependencies(api), ...options });
  return plan.slices.map(({ range }) => range);
}

function timesIn(store: Store): number[] {
  const all = [...store.groups('machines', { from: 0, to: Number.MAX_SAFE_INTEGER })].flat();
  return all.map((record) => (record as [string, { timestamp: number }])[1].timestamp);
}

describe('backfill/plan', () => {
  it('reads the whole range at once, and at full resolution twelve hours, oldest first', async () => {
    expect(await rangesOf(30, false)).toEqual([{ start: SECONDS - 30 * HOUR, end: SECONDS }]);
    expect(await rangesOf(30, true)).toEqual([
      { start: SECONDS - 30 * HOUR, end: SECONDS - 18 * HOUR },
      { start: SECONDS - 18 * HOUR, end: SECONDS - 6 * HOUR },
      { start: SECONDS - 6 * HOUR, end: SECONDS },
    ]);
  });
});

describe('backfill/fetch', () => {
  it('reads every record, the oldest slice first, and counts down the rest of each slice', async () => {
    const api = fakeApi(service(['a', 'b']));
    using store = await newStore();
    const left: number[] = [];
    await fetchFrom(api, store, TWO_SLICES, () => left.push(requestsLeft(TWO_SLICES, store.left())));
    expect(new Set(timesIn(store)).size).toBe(DAY / 600 + 1);
    expect(api.requests[0]?.body).toMatchObject({ range: { timestamp: { start: END - DAY, end: END - DAY / 2 } } });
    // 73 times of two machines are 146 records.
    const ofSlice = [9, 8, 7, 6, 5, 4, 3, 2, 1, 1, 1, 1, 1, 1, 0];
    expect(left).toEqual([...ofSlice.map((requests) => requests + 10), ...ofSlice]);
  });

  it('takes about as many requests as it announced', async () => {
    const api = fakeApi(service(['a'], 60));
    using store = await newStore();
    const ranges = TWO_SLICES.slices.map(({ range }) => range as Span);
    const announced = await machinesHistory(machinesOptions()).estimate(api, ranges, SECONDS, noSignal());
    const asked = api.requests.length;
    await fetchFrom(api, store, TWO_SLICES);
    const made = api.requests.length - asked;
    expect(made).toBeGreaterThan(100);
    expect(Math.abs(announced.reduce((sum, requests) => sum + requests) - made)).toBeLessThan(0.05 * made);
  });

  it('continues at the page where it was interrupted', async () => {
    using store = await newStore();
    const answer = service(['a']);
    const refused = fakeApi((request) => {
      if (refused.requests.length === 3) throw failed(request, 'forbidden');
      return answer(request);
    });
    await expect(fetchFrom(refused, store, TWO_SLICES)).rejects.toMatchObject({ reason: 'forbidden' });
    const api = fakeApi(answer);
    await fetchFrom(api, store, TWO_SLICES);
    expect(api.requests[0]?.body).toMatchObject({ cursor: '20' });
    // The second that both slices have is read twice.
    expect(timesIn(store)).toHaveLength(DAY / 600 + 2);
    expect([...store.left().values()]).toEqual([0, 0]);
  });

  it('drops records after the end, and counts records outside the range as bad', async () => {
    using store = await newStore();
    const at = (seconds: number) => systemRecord({ timestamp: (END + seconds) * 1000 });
    const api = fakeApi(() => machinesPage({ system: [at(7_200), at(60), at(0), at(-60)] }));
    await fetchFrom(api, store, planOf([{ start: END - DAY, end: END }], END));
    expect(timesIn(store)).toEqual([END - 60, END]);
    expect(store.flaws()).toEqual({ bad: 1, endings: [] });
  });
});
