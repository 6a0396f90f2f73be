import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MachineMetricsBody } from '../../../src/sandbox/body.ts';
import { machineMetrics } from '../../../src/sandbox/machines.ts';
import { PROCESSES } from '../../../src/sandbox/machines-records.ts';
import { Sandbox } from '../../../src/sandbox/world.ts';
import { machinesSource } from '../../../src/sources/machines/index.ts';
import { secondsAhead } from '../../../src/sources/machines/learned.ts';
import { lastSeen, type Machines } from '../../../src/sources/machines/state.ts';
import { countingFleet, newestIn } from '../../simulation/service/fleet.ts';
import { answering, apiOf, type FakeApi, failed, fakeApi } from '../../support/answers/fake-api.ts';
import {
  type Arrays,
  type MetricsRequest,
  machinesOptions,
  machinesPage,
  nodeRecord,
  systemRecord,
} from '../../support/answers/machine-records.ts';
import { entryWith, type RoundResult, round } from '../../support/runs/round.ts';
import { MINUTE, NOW, noSignal } from '../../support/time/timing.ts';

const SECONDS = NOW / 1000;

const SOURCE = machinesSource(machinesOptions());

const NO_MACHINES = new Sandbox({ machines: 0 });
/** The state at `now` after a sweep of no machines 70 seconds ago, so that no late records are due. */
async function quietAt(now: number): Promise<Machines> {
  return (await round(SOURCE, apiOf(NO_MACHINES), undefined, { now: now - 70_000 })).value;
}
const EMPTY = await quietAt(NOW);
/** A state in which they are. */
const LATE = SOURCE.empty;

/** Runs only the sweep, because the other reads have just run. */
function poll(api: FakeApi, previous = EMPTY, now = NOW, signal = noSignal()): Promise<RoundResult<Machines>> {
  const ran = { failuresInARow: 0, durationMs: 0, lastAttemptAt: now };
  const entry = { ...entryWith(SOURCE, previous), reads: { names: ran, unknown: ran } };
  return round(SOURCE, api, entry, { now, signal });
}

describe('sources/machines/sweep', () => {
  /** The value after a poll of one page with these records. */
  async function swept(arrays: Arrays, previous = EMPTY, now = NOW): Promise<Machines> {
    return (await poll(answering(machinesPage(arrays)), previous, now)).value;
  }

  it('requests the last 75 seconds, and 5 minutes ahead because clocks differ', async () => {
    const api = answering(machinesPage({}));
    expect(await poll(api)).toMatchObject({ value: { ...EMPTY, beganAt: SECONDS }, events: [], failure: undefined });
    const range = { timestamp: { start: SECONDS - 75, end: SECONDS + 300 } };
    expect(api.requests.map(({ priority, body }) => [priority, body])).toEqual([['fleet', { range, page_size: 10 }]]);
  });

  it('fails if no record of any page can be read, but not if one page is readable', async () => {
    const nobody = [systemRecord({ machine: 7 }), systemRecord({ timestamp: 'now' })];
    const pages = (second: readonly unknown[]) => {
      const api = fakeApi(() =>
        api.requests.length === 1 ? machinesPage({ system: nobody }, 'more') : machinesPage({ node: second }),
      );
      return poll(api);
    };
    const { failure, value } = await pages([nodeRecord({ timestamp: -1 })]);
    expect(failure).toMatchObject({ endpoint: 'machine_metrics', reason: 'invalid_body' });
    expect([value.machines, value.beganAt]).toEqual([[], EMPTY.beganAt]);
    expect(await pages([nodeRecord()])).toMatchObject({
      failure: undefined,
      value: { machines: [{ name: 'node-a' }] },
    });
  });

  it('requests the page after an unreadable one, and fails if there is none', async () => {
    const odd = { system_metrics: { a: 1 }, validator_metrics: [], node_metrics: [] };
    const pages = (cursor: string | null) => {
      const api = fakeApi(() =>
        api.requests.length === 1
          ? { data: odd, paging: { next_cursor: cursor } }
          : machinesPage({ node: [nodeRecord()] }),
      );
      return poll(api);
    };
    expect(await pages('more')).toMatchObject({ failure: undefined, value: { machines: [{ name: 'node-a' }] } });
    expect(await pages(null)).toMatchObject({ failure: { reason: 'invalid_body' }, value: { machines: [] } });
  });

  it('keeps a page with an unreadable cursor, and fails', async () => {
    const page = { ...(machinesPage({ system: [systemRecord()] }) as object), paging: { next_cursor: 7 } };
    const { failure, value } = await poll(answering(page));
    expect(failure).toMatchObject({ reason: 'invalid_body' });
    expect(value.machines).toHaveLength(1);
  });

  it('dates a record more than five minutes ahead by the sweep, in seconds or milliseconds', async () => {
    for (const unit of [1, 1_000]) {
      const system = [systemRecord({ timestamp: (SECONDS + 300) * unit })];
      const node = [299, 602, 601].map((s) => nodeRecord({ timestamp: (SECONDS + s) * unit, client_build: s }));
      const { value, events } = await poll(answering(machinesPage({ system, node })));
      expect(value.machines).toMatchObject([
        { system: { timestamp: SECONDS + 300 }, node: { timestamp: SECONDS, client_build: 602 } },
      ]);
      expect(events).toMatchObject([{ reason: 'clock_fast', machines: ['node-a'], why: ['by 602 s'] }]);
    }
  });

  describe.each(['arrivedAt', 'time'] as const)('if the service compares %s', (compared) => {
    /** For each minute: silence and clock offset in seconds, requests up to a day ahead, minute of the push, events. */
    type Seen = [silence: number, ahead: number, asks: number, pushed: number, events: string[]];
    async function story(lastPush: number, fast: { seconds: number; from: number; until: number }): Promise<Seen[]> {
      const pushes = Array.from({ length: lastPush + 1 }, (_, i) => {
        const [minute, arrivedAt] = [lastPush - i, SECONDS + (lastPush - i) * 60];
        const isFast = minute >= fast.from && minute < fast.until;
        return { minute, arrivedAt, time: arrivedAt + (isFast ? fast.seconds : 0) };
      }).sort((a, b) => b[compared] - a[compared]);
      let value = EMPTY;
      const states: Seen[] = [];
      for (let now = NOW; now <= NOW + 90 * MINUTE; now += MINUTE) {
        const at = now / 1_000;
        const api = fakeApi(({ body }) => {
          const { start, end } = (body as MetricsRequest).range.timestamp;
          const found = pushes.filter((one) => one.arrivedAt <= at && one[compared] >= start && one[compared] <= end);
          const record = ({ time, minute, arrivedAt }: (typeof pushes)[number]) =>
            systemRecord({
              timestamp: time,
              cpu_node_system_seconds_total: 60 * minute,
              // Linux moves it with the clock.
              misc_node_boot_ts_seconds: SECONDS - 90_000 + time - arrivedAt,
            });
          return machinesPage({ system: found.slice(0, 10).map(record) });
        });
        const result = await poll(api, value, now);
        ({ value } = result);
        const far = api.requests.filter(({ body }) => (body as MetricsRequest).range.timestamp.end > at + 3_600);
        const [machine = { name: '', system: undefined }] = value.machines;
        const pushed = Number(machine.system?.cpu_node_system_seconds_total) / 60;
        const events = result.events.map(({ type }) => type);
        states.push([at - lastSeen(machine), secondsAhead(machine), far.length, pushed, events]);
      }
      return states;
    }

    it('a machine whose clock is an hour fast becomes silent only if it stops', async () => {
      const live = await story(90, { seconds: 3_600, from: 5, until: 30 });
      expect(Math.max(...live.map(([silence]) => silence))).toBeLessThan(10 * 60);
      expect(live[20]?.[1]).toBe(3_600);
      expect(live[45]?.[1]).toBe(0);
      const dead = await story(20, { seconds: 3_600, from: 5, until: 30 });
      expect(dead.at(-1)?.[0]).toBe(70 * 60);
      expect(dead.slice(40).filter(([, , asks]) => asks > 0)).toEqual([]);
    });

    // The earlier records are then in the range of each sweep.
    it.each([
      [360, 0],
      [1_200, 5],
    ])('a clock that stays %i s fast is reported once, and no older record counts', async (seconds, from) => {
      const live = await story(90, { seconds, from, until: 75 });
      expect(live.flatMap(([, , , , events]) => events)).toEqual(['clock_fast']);
      for (const [minute, [silence, ahead, , pushed]] of live.entries()) {
        // The hourly sweep for late records finds a clock that is only just too fast.
        if (minute > 60) expect([silence, ahead, pushed]).toEqual([0, minute < 75 ? seconds : 0, minute]);
      }
      const dead = await story(70, { seconds, from, until: 75 });
      expect(dead.slice(70).map(([silence]) => silence)).toEqual(Array.from({ length: 21 }, (_, i) => i * 60));
    });
  });

  it('judges a record by the clock after its answer, which can show that our clock was slow', async () => {
    const api = fakeApi(() => {
      api.at = NOW + MINUTE;
      return machinesPage({ system: [systemRecord({ timestamp: SECONDS + 301 })] });
    });
    expect((await poll(api)).value.machines).toMatchObject([{ system: { timestamp: SECONDS + 301 } }]);
  });

  it('keeps the pages before a failure', async () => {
    const api = fakeApi((request) => {
      if (api.requests.length === 2) throw failed(request, 'server_error');
      return machinesPage({ system: [systemRecord()] }, 'more');
    });
    const { value, failure } = await poll(api);
    expect(failure).toMatchObject({ reason: 'server_error' });
    expect(value.machines.map(({ name }) => name)).toEqual(['node-a']);
    // The next sweep reaches back to the last complete one.
    expect(value.beganAt).toBe(EMPTY.beganAt);
  });

  it('reports once that several hosts share a name', async () => {
    let state = EMPTY;
    const said: unknown[] = [];
    for (let now = NOW, i = 0; i < 9; i += 1, now += MINUTE) {
      const boot = { misc_node_boot_ts_seconds: SECONDS - 9_000 - (i % 2) * 9_000 };
      const page = machinesPage({ system: [systemRecord({ timestamp: now, ...boot })] });
      const { value, events } = await poll(answering(page), state, now);
      state = value;
      said.push(...events);
    }
    expect(said).toEqual([
      { type: 'name_shared', reason: 'name_shared', machines: ['node-a'], why: ['boot times alternate'] },
    ]);
  });

  it('has no result if it is aborted', async () => {
    const stop = new AbortController();
    const api = fakeApi(() => {
      stop.abort(new Error('stopping'));
      return machinesPage({}, 'more');
    });
    expect(await poll(api, EMPTY, NOW, stop.signal)).toMatchObject({ value: EMPTY, events: [], ran: [] });
  });

  describe('asking by name', () => {
    /** A machine whose newest record is `age` ms old. */
    const quiet = (machine: string, age: number): unknown => systemRecord({ machine, timestamp: NOW - age });

    /** The requests after a sweep of the page `found`. `others`: how many other machines are live and found. */
    async function asked(known: Arrays, found: Arrays = {}, others = 41, more?: Arrays): Promise<MetricsRequest[]> {
      const before = NOW - 10 * MINUTE + 1;
      const system = Array.from({ length: others }, (_, i) => quiet(`here-${i}`, 10 * MINUTE));
      const all = { ...known, system: [...(known.system ?? []), ...system] };
      const { machines } = await swept(all, await quietAt(before), before);
      const here = { ...found, system };
      const api = fakeApi(() => {
        const { length } = api.requests;
        return length === 1 ? machinesPage(here) : machinesPage(more ?? {}, more && `${length}`);
      });
      await poll(api, { ...EMPTY, machines });
      const bodies = api.requests.slice(1).map(({ body }) => body as MetricsRequest);
      // Another test covers requests up to a day ahead.
      return bodies.filter(({ range }) => range.timestamp.start < SECONDS);
    }

    it('asks for live machines that the sweep missed, from the oldest of their last records on', async () => {
      const body = (start: number, machines = ['a'], end = SECONDS - 75): unknown => ({
        range: { timestamp: { start, end } },
        machines,
        page_size: 10,
      });
      expect(await asked({ system: [quiet('a', 5 * MINUTE + 1)] })).toEqual([body(SECONDS - 300)]);
      // The next sweep would call it silent, and a fast clock could hide it.
      expect(await asked({ system: [quiet('a', 9 * MINUTE)] })).toEqual([body(SECONDS - 539, ['a'], SECONDS + 86_700)]);
      const both = [quiet('a', 5 * MINUTE + 1), quiet('b', 6 * MINUTE - 1_999)];
      expect(await asked({ system: both })).toEqual([body(SECONDS - 358, ['b', 'a'])]);
    });

    it('does not ask for machines that were found, have a recent record, or are silent', async () => {
      const system = [quiet('found', 6 * MINUTE), quiet('young', 5 * MINUTE), quiet('silent', 18 * MINUTE + 70_001)];
      expect(await asked({ system }, { node: [nodeRecord({ machine: 'found' })] })).toEqual([]);
    });

    it('asks for at most twenty names a request', async () => {
      const system = Array.from({ length: 41 }, (_, i) => quiet(`m${i}`, 6 * MINUTE));
      const bodies = await asked({ system });
      expect(bodies.map(({ machines }) => machines?.length)).toEqual([20, 20, 1]);
      expect(new Set(bodies.flatMap(({ machines }) => machines)).size).toBe(41);
    });

    it('reads all machines again, equally far back, if more than half of the live ones are missing', async () => {
      const range = { timestamp: { start: SECONDS - 539, end: SECONDS - 75 } };
      const system = [quiet('a', 9 * MINUTE), quiet('b', 6 * MINUTE)];
      const [all, ahead] = await asked({ system }, {}, 1);
      expect(all).toEqual({ range, page_size: 10 });
      expect(ahead?.machines).toEqual(['a']);
      expect((await asked({ system }, {}, 2))[0]?.machines).toEqual(['a', 'b']);
    });

    it('asks again for the missing names alone, after a page of others', async () => {
      const system = ['a', 'b', 'c'].map((name) => quiet(name, 6 * MINUTE));
      const bodies = await asked({ system }, {}, 41, { system: [quiet('a', 5 * MINUTE)] });
      expect(bodies.map(({ machines, cursor }) => [machines?.toSorted(), cursor])).toEqual([
        [['a', 'b', 'c'], undefined],
        [['a', 'b', 'c'], '2'],
        [['b', 'c'], undefined],
      ]);
    });

    it('is repeated at the next sweep after a passing failure, not after a refusal', async () => {
      const twoHoursAgo = NOW - 2 * 60 * MINUTE;
      const system = [quiet('a', 2 * 60 * MINUTE), quiet('here', 2 * 60 * MINUTE)];
      const known = { ...(await swept({ system }, await quietAt(twoHoursAgo), twoHoursAgo)), lateAt: NOW };
      for (const [reason, times] of [
        ['server_error', 2],
        ['bad_request', 1],
        ['forbidden', 1],
      ] as const) {
        let asks = 0;
        const api = fakeApi((request) => {
          if (!(request.body as MetricsRequest).machines) return machinesPage({ system: [quiet('here', 0)] });
          asks += 1;
          throw failed(request, reason);
        });
        const { value, failure } = await poll(api, known);
        expect(failure).toMatchObject({ reason });
        await poll(api, value, NOW + MINUTE);
        expect(asks).toBe(times);
      }
    });

    it('asks by the names that the API gave, not by the labels', async () => {
      const system = [quiet('', 6 * MINUTE), quiet('nul\0', 6 * MINUTE)];
      const [body] = await asked({ system, node: [quiet('unnamed', 6 * MINUTE)] });
      expect(body?.machines).toEqual(['', 'unnamed', 'nul\0']);
    });
  });
});

describe('sources/machines/pages', () => {
  it('reads all records, whether the page size counts per array or over all arrays', async () => {
    const options = fc.record({
      machines: fc.nat(35),
      seed: fc.nat(),
      missing: fc.record({ array: fc.constantFrom(0, 0.1, 0.5, 0.95) }),
      pageSizeOver: fc.constantFrom('each', 'all'),
      longestPage: fc.integer({ min: 3, max: 12 }),
    });
    await fc.assert(
      fc.asyncProperty(options, async (drawn) => {
        const fleet = countingFleet(drawn);
        const api = fakeApi(({ body }) => JSON.parse(machineMetrics({ fleet }, MachineMetricsBody.parse(body), NOW)));
        const { value, events } = await poll(api);
        const span = { oldest: NOW - 75_000, newest: NOW };
        for (const process of PROCESSES) {
          const held = value.machines.map((one) => [one.name, one[process] && 1_000 * one[process].timestamp]);
          const pushed = value.machines.map(({ name }) => [name, newestIn(fleet, name, process, span, NOW)]);
          expect(held).toEqual(pushed);
        }
        const pushes = (name: string) => PROCESSES.some((one) => newestIn(fleet, name, one, span, NOW) !== undefined);
        expect(value.machines).toHaveLength([...fleet.machines.keys()].filter(pushes).length);
        expect(events).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });

  it('passes the cursor back unchanged, with every other field of the body as it was', async () => {
    const cursors = [' eyJhIjo=\n"', '%2B', undefined];
    const api = fakeApi(() => machinesPage({ system: [systemRecord()] }, cursors[api.requests.length - 1]));
    await poll(api, LATE);
    const [first, second, third] = api.requests.map(({ body }) => body);
    expect(second).toEqual({ ...first, cursor: ' eyJhIjo=\n"' });
    expect(third).toEqual({ ...first, cursor: '%2B' });
  });

  it('looks for late records on no more than thirty pages', async () => {
    const late = systemRecord({ timestamp: NOW - 120_000 });
    const api = fakeApi(() => machinesPage({ system: [late] }, `${api.requests.length}`));
    await poll(api, LATE);
    expect(api.requests).toHaveLength(30);
  });
});
