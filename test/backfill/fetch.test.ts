import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ApiRequest } from '../../src/api/client.ts';
import { fetchAll } from '../../src/backfill/fetch.ts';
import { slicesOf, splitSpan } from '../../src/backfill/plan.ts';
import { WorkFolder } from '../../src/backfill/work-folder.ts';
import { machinesHistory } from '../../src/sources/machines/history.ts';
import { planOf } from '../support/backfill.ts';
import { failed, fakeApi } from '../support/fake-api.ts';
import { temporaryFolder } from '../support/files.ts';
import { machinesOptions, machinesPage, systemRecord } from '../support/machine-records.ts';
import { NOW, noSignal } from '../support/timing.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

/** Older than what scrapes to come may have. */
const END = NOW / 1000 - 3_600;
const DAY = 86_400;

interface ServiceOptions {
  /** Seconds between the records of each machine. */
  readonly every: Readonly<Record<string, number>>;
  /** Which of n records is kept, for a range of so many seconds. */
  readonly keeps?: (seconds: number) => number;
  readonly missing?: (time: number) => boolean;
}

/** Records of system metrics at fixed times, newest first; the cursor is the number of records that were sent. */
function service({ every, keeps = () => 1, missing = () => false }: ServiceOptions) {
  return ({ body }: ApiRequest): unknown => {
    const { range, cursor = '0' } = body as { range: { timestamp: { start: number; end: number } }; cursor?: string };
    const { start, end } = range.timestamp;
    const gap = keeps(end - start);
    const records = Object.entries(every).flatMap(([machine, seconds]) => {
      const times = [];
      for (let n = Math.floor(end / seconds); n * seconds >= start; n -= 1) if (n % gap === 0) times.push(n * seconds);
      return times.filter((time) => !missing(time)).map((time) => systemRecord({ machine, timestamp: time * 1000 }));
    });
    records.sort((a, b) => Number(b['timestamp']) - Number(a['timestamp']));
    const from = Number(cursor);
    const page = records.slice(from, from + 10);
    return machinesPage({ system: page }, from + 10 < records.length ? String(from + 10) : undefined);
  };
}

/** The options of a run that reads one slice after the other, but for the service and the resolution. */
function optionsFor({ store }: WorkFolder) {
  const nothing = (): void => undefined;
  return {
    clock: new VirtualClock(NOW),
    store,
    histories: new Map([['machines', machinesHistory(machinesOptions())]]),
    concurrency: () => 1,
    onWait: nothing,
    onPage: nothing,
    onSlice: nothing,
  };
}

async function fetched(answer: (request: ApiRequest) => unknown, seconds = DAY, slice = DAY / 2) {
  const folder = new WorkFolder(join(temporaryFolder(), 'past.om'));
  const slices = slicesOf('machines', splitSpan({ start: END - seconds, end: END }, slice), 100, 0);
  const plan = planOf(slices, NOW / 1000);
  await folder.save(plan);
  const api = fakeApi(answer);
  const fetching = { ...optionsFor(folder), api, fullResolution: true };
  const done = await fetchAll(fetching, plan, noSignal());
  const times = new Map<string, Set<number>>();
  for (const [machine, at] of recordsIn(folder)) times.set(machine, (times.get(machine) ?? new Set()).add(at));
  return {
    requests: api.requests.length,
    times,
    plan: done,
    bodies: api.requests.map(({ body }) => body as { range: object }),
  };
}

function recordsIn({ store }: WorkFolder): [machine: string, at: number][] {
  const all = [...store.sorted('machines', { from: 0, to: Number.MAX_SAFE_INTEGER })];
  return all.map(({ record }) => {
    const [, { machine, timestamp }] = record as [string, { machine: string; timestamp: number }];
    return [machine, timestamp];
  });
}

/** How many times there are in the span, both ends included. */
function expected(every: number, seconds = DAY): number {
  return Math.floor(END / every) - Math.ceil((END - seconds) / every) + 1;
}

describe('backfill/fetch', () => {
  it('halves slices until the service leaves nothing out, and learns how long they may be', async () => {
    const keeps = (seconds: number): number => (seconds > 10_000 ? 2 : 1);
    const { times, requests, plan } = await fetched(service({ every: { a: 60, b: 60 }, keeps }), 3 * DAY);
    for (const machine of ['a', 'b']) expect(times.get(machine)?.size).toBe(expected(60, 3 * DAY));
    // A page less full at the end of each slice, and few that were read in vain.
    const least = Math.ceil((2 * expected(60, 3 * DAY)) / 10);
    expect(requests).toBeLessThanOrEqual(least + plan.slices.length + 12);
  });

  it('asks for nothing twice where nothing is left out', async () => {
    const { times, requests, plan } = await fetched(service({ every: { a: 60 } }), 2 * DAY);
    expect(times.get('a')?.size).toBe(expected(60, 2 * DAY));
    expect(plan.slices).toHaveLength(4);
    expect(requests).toBeLessThanOrEqual(expected(60, 2 * DAY) / 10 + 4);
  });

  it('tells machines that report seldom, and minutes that were missed, from thinning', async () => {
    const missing = (time: number): boolean => (time / 60) % 3 === 0;
    const lossy = await fetched(service({ every: { a: 60 }, missing }));
    expect(lossy.plan.slices).toHaveLength(2);

    const slow = await fetched(service({ every: { slow: 300 } }), 3 * DAY);
    expect(slow.times.get('slow')?.size).toBe(expected(300, 3 * DAY));
    expect(slow.requests).toBeLessThan(expected(300, 3 * DAY) / 10 + 15);
    // Only the first was cut, down to where it is clear that nothing is left out.
    expect(slow.plan.slices.length).toBeLessThan(15);
    const thinned = await fetched(
      service({ every: { slow: 300 }, keeps: (seconds) => (seconds > 20_000 ? 2 : 1) }),
      3 * DAY,
    );
    expect(thinned.times.get('slow')?.size).toBe(expected(300, 3 * DAY));
  });

  it('begins with the oldest slice', async () => {
    const { bodies } = await fetched(service({ every: { a: 3_000 } }));
    expect(bodies[0]?.range).toEqual({ timestamp: { start: END - DAY, end: END - DAY / 2 } });
  });

  it('begins a slice anew where the service no longer knows the cursor', async () => {
    const folder = new WorkFolder(join(temporaryFolder(), 'past.om'));
    const slices = slicesOf('machines', [{ start: END - 3_600, end: END }], 6, 0);
    const plan = planOf(slices, NOW / 1000);
    await folder.save(plan);
    const answer = service({ every: { a: 60 } });
    const common = { ...optionsFor(folder), fullResolution: false };
    const refused = fakeApi((request) => {
      if (refused.requests.length === 3) throw failed(request, 'forbidden');
      return answer(request);
    });
    await expect(fetchAll({ ...common, api: refused }, plan, noSignal())).rejects.toMatchObject({
      reason: 'forbidden',
    });
    const forgetful = fakeApi((request) => {
      if (forgetful.requests.length === 1) throw failed(request, 'bad_request');
      return answer(request);
    });
    await fetchAll({ ...common, api: forgetful }, plan, noSignal());
    expect(forgetful.requests[0]?.body).toMatchObject({ cursor: '20' });
    const times = recordsIn(folder).map(([, at]) => at);
    expect(times).toHaveLength(61);
    expect(new Set(times).size).toBe(61);
  });
});
