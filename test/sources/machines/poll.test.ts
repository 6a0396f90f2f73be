import { describe, expect, it } from 'vitest';
import { pollMachines } from '../../../src/sources/machines/poll.ts';
import { Machines } from '../../../src/sources/machines/schema.ts';
import { type FakeApi, failed, fakeApi } from '../../support/fake-api.ts';
import type { FleetRequest } from '../../support/fleet.ts';
import {
  type Arrays,
  machinesOptions,
  machinesPage,
  nodeRecord,
  systemRecord,
  validatorRecord,
} from '../../support/machine-records.ts';
import { MINUTE, NOW, noSignal, timing } from '../../support/timing.ts';

const SECONDS = NOW / 1000;

/** A state in which neither late records nor names are due at `now`. */
function quietAt(now: number): Machines {
  return { machines: [], dropped: 0, lateAt: now, namesAt: now, asked: [] };
}
const EMPTY = quietAt(NOW);

describe('sources/machines/poll', () => {
  const DONE = { value: { ...EMPTY, beganAt: SECONDS }, events: [], oneTimeRequests: 0 };

  function poll(api: FakeApi, previous = EMPTY, now = NOW) {
    return pollMachines(machinesOptions(), api, previous, timing({ now }), noSignal());
  }

  /** What a poll of the one page with these records makes of `previous`. */
  async function swept(arrays: Arrays, previous = EMPTY, now = NOW): Promise<Machines> {
    const { value } = await poll(
      fakeApi(() => machinesPage(arrays)),
      previous,
      now,
    );
    return Machines.parse(JSON.parse(JSON.stringify(value)));
  }

  it('asks for the last 75 seconds, and 5 minutes ahead because clocks differ', async () => {
    const api = fakeApi(() => machinesPage({}));
    expect(await poll(api)).toEqual(DONE);
    expect(api.requests).toEqual([
      {
        endpoint: 'machine_metrics',
        priority: 'machines',
        path: '/api/v2/machine-metrics',
        body: { range: { timestamp: { start: SECONDS - 75, end: SECONDS + 300 } }, page_size: 10 },
      },
    ]);
  });

  it('never lets an older record replace a newer one within a sweep, in any order', async () => {
    const older = systemRecord({ timestamp: 1790769563000, cpu_cores: 1 });
    for (const system of [
      [systemRecord(), older],
      [older, systemRecord()],
    ]) {
      expect((await swept({ system })).machines[0]?.system).toMatchObject({ timestamp: 1790769623, cpu_cores: 8 });
    }
  });

  it('never lets an older record replace a newer one across sweeps', async () => {
    const first = await swept({ system: [systemRecord()] });
    const second = await swept({ system: [systemRecord({ timestamp: 1790769563000, cpu_cores: 1 })] }, first);
    expect(second.machines).toEqual(first.machines);
    const third = await swept({ system: [systemRecord({ timestamp: 1790769683000, cpu_cores: 2 })] }, second);
    expect(third.machines[0]?.system).toMatchObject({ timestamp: 1790769683, cpu_cores: 2 });
  });

  it('counts a record that cannot be read and keeps its neighbours', async () => {
    const bad = [systemRecord({ cpu_cores: 'eight' }), systemRecord({ timestamp: undefined }), null, 7];
    const api = fakeApi(() => machinesPage({ system: [...bad, systemRecord()], node: [nodeRecord()] }));
    const { value, failure } = await poll(api);
    expect(failure).toBeUndefined();
    expect(api.invalidRecords()).toBe(4);
    expect(value.machines).toEqual([expect.objectContaining({ system: expect.anything(), node: expect.anything() })]);
  });

  it('refuses a record more than five minutes ahead of our clock, in seconds and in milliseconds', async () => {
    for (const unit of [1, 1_000]) {
      const api = fakeApi(() =>
        machinesPage({
          system: [systemRecord({ machine: 'ahead', timestamp: (SECONDS + 300) * unit })],
          validator: [validatorRecord({ timestamp: (SECONDS + 301) * unit })],
          node: [nodeRecord({ timestamp: (SECONDS + 301) * unit })],
        }),
      );
      expect((await poll(api)).value.machines.map(({ name }) => name)).toEqual(['ahead']);
      expect(api.invalidRecords()).toBe(2);
    }
  });

  it('keeps what came before a failure in the middle of a sweep', async () => {
    const api = fakeApi((request) => {
      if (api.requests.length === 2) throw failed(request, 'server_error');
      return machinesPage({ system: [systemRecord()] }, 'more');
    });
    const { value, failure } = await poll(api);
    expect(failure).toMatchObject({ reason: 'server_error' });
    expect(value.machines.map(({ name }) => name)).toEqual(['node-a']);
    // The next sweep reaches back to the last complete one.
    expect(value.beganAt).toBeUndefined();
  });

  it('is not a result when it is aborted', async () => {
    const stop = new AbortController();
    const api = fakeApi(() => {
      stop.abort(new Error('stopping'));
      return machinesPage({}, 'more');
    });
    await expect(pollMachines(machinesOptions(), api, EMPTY, timing(), stop.signal)).rejects.toThrow('stopping');
  });

  it('takes an answer without the envelope for a failure', async () => {
    for (const body of [{}, { data: null }, { data: [] }, []]) {
      expect((await poll(fakeApi(() => body))).failure).toMatchObject({ reason: 'invalid_body' });
    }
  });

  describe('asking by name', () => {
    /** A machine whose newest record is `age` ms old. */
    const quiet = (machine: string, age: number): unknown => systemRecord({ machine, timestamp: NOW - age });

    async function asked(known: Arrays, found: Arrays = {}): Promise<FleetRequest[]> {
      const before = NOW - 10 * MINUTE + 1;
      const { beganAt: _, ...previous } = await swept(known, quietAt(before), before);
      const api = fakeApi((request) => machinesPage('machines' in (request.body ?? {}) ? {} : found));
      await poll(api, { ...previous, ...EMPTY, machines: previous.machines });
      return api.requests.slice(1).map(({ body }) => body as FleetRequest);
    }

    it('requests live machines that the sweep missed, from their last record on and at most six minutes back', async () => {
      const body = (start: number, machines = ['a']): unknown => ({
        range: { timestamp: { start, end: SECONDS - 75 } },
        machines,
        page_size: 10,
      });
      expect(await asked({ system: [quiet('a', 5 * MINUTE + 1)] })).toEqual([body(SECONDS - 300)]);
      expect(await asked({ system: [quiet('a', 9 * MINUTE)] })).toEqual([body(SECONDS - 360)]);
      const both = [quiet('a', 5 * MINUTE + 1), quiet('b', 6 * MINUTE - 1_999)];
      expect(await asked({ system: both })).toEqual([body(SECONDS - 358, ['b', 'a'])]);
    });

    it('requests no machine that was found, has a recent record, or is silent', async () => {
      const system = [quiet('found', 6 * MINUTE), quiet('young', 5 * MINUTE), quiet('silent', 10 * MINUTE + 1)];
      expect(await asked({ system }, { node: [nodeRecord({ machine: 'found' })] })).toEqual([]);
    });

    it('asks for twenty names per request', async () => {
      const system = Array.from({ length: 41 }, (_, i) => quiet(`m${i}`, 6 * MINUTE));
      const bodies = await asked({ system });
      expect(bodies.map(({ machines }) => machines?.length)).toEqual([20, 20, 1]);
      expect(new Set(bodies.flatMap(({ machines }) => machines)).size).toBe(41);
    });

    it('asks by the names that the API gave, not by the labels', async () => {
      const system = [quiet('', 6 * MINUTE), quiet('nul\0', 6 * MINUTE)];
      const [body] = await asked({ system, node: [quiet('unnamed', 6 * MINUTE)] });
      expect(body?.machines).toEqual(['', 'unnamed', 'nul\0']);
    });
  });
});
