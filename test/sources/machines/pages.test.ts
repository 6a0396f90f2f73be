import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { machinesSource } from '../../../src/sources/machines/index.ts';
import type { Machines } from '../../../src/sources/machines/state.ts';
import { type FakeApi, fakeApi } from '../../support/answers/fake-api.ts';
import {
  type Arrays,
  machinesOptions,
  machinesPage,
  nodeRecord,
  systemRecord,
  validatorRecord,
} from '../../support/answers/machine-records.ts';
import { ARRAYS, type FleetRequest } from '../../support/model/fleet.ts';
import { entryWith, round } from '../../support/runs/round.ts';
import { NOW } from '../../support/time/timing.ts';

/** Pages of records whose size counts for each array, or for all of them together (api-facts 2 leaves it open). */
function pagedApi(all: Required<Arrays>, sizeCounts: 'per array' | 'over all arrays'): FakeApi {
  return fakeApi(({ body }) => {
    const { page_size: size, cursor } = body as FleetRequest;
    const from = cursor === undefined ? [0, 0, 0] : cursor.split('+').map(Number);
    let room = size;
    const page = ARRAYS.map((name, i) => {
      const records = all[name].slice(from[i], (from[i] ?? 0) + (sizeCounts === 'per array' ? size : room));
      room -= records.length;
      return records;
    });
    const [system = [], validator = [], node = []] = page;
    const next = from.map((position, i) => position + (page[i]?.length ?? 0));
    const isEnd = ARRAYS.every((name, i) => (next[i] ?? 0) >= all[name].length);
    return machinesPage({ system, validator, node }, isEnd ? undefined : next.join('+'));
  });
}

function fleet(make: (fields: Record<string, unknown>) => unknown, count: number): unknown[] {
  return Array.from({ length: count }, (_, i) => make({ machine: `m${i}` }));
}

describe('sources/machines/pages', () => {
  let endings: readonly unknown[];

  async function poll(api: FakeApi, lateAt?: number): Promise<Machines> {
    const source = machinesSource(machinesOptions());
    const ran = { failuresInARow: 0, durationMs: 0, lastAttemptAt: NOW };
    const entry = { ...entryWith(source, { machines: [], dropped: 0, lateAt }), reads: { names: ran, unknown: ran } };
    const { value, events } = await round(source, api, entry, { now: NOW });
    endings = events;
    return value;
  }

  it('reads everything, whether the page size counts per array or over all, and wherever the arrays end', async () => {
    const length = fc.nat(35);
    await fc.assert(
      fc.asyncProperty(length, length, length, fc.boolean(), async (systems, validators, nodes, perArray) => {
        const api = pagedApi(
          {
            system: fleet(systemRecord, systems),
            validator: fleet(validatorRecord, validators),
            node: fleet(nodeRecord, nodes),
          },
          perArray ? 'per array' : 'over all arrays',
        );
        const { machines } = await poll(api, NOW);
        const held = (process: (typeof ARRAYS)[number]): number => machines.filter((one) => one[process]).length;
        expect(ARRAYS.map(held)).toEqual([systems, validators, nodes]);
        expect(machines).toHaveLength(Math.max(systems, validators, nodes));
        expect(endings).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });

  it('passes the cursor back unchanged, with every other field of the body as it was', async () => {
    const cursors = [' eyJhIjo=\n"', '%2B', undefined];
    const api = fakeApi(() => machinesPage({ system: [systemRecord()] }, cursors[api.requests.length - 1]));
    await poll(api);
    const [first, second, third] = api.requests.map(({ body }) => body);
    expect(second).toEqual({ ...first, cursor: ' eyJhIjo=\n"' });
    expect(third).toEqual({ ...first, cursor: '%2B' });
  });

  it('looks for late records on no more than thirty pages', async () => {
    const late = systemRecord({ timestamp: NOW - 120_000 });
    const api = fakeApi(() => machinesPage({ system: [late] }, `${api.requests.length}`));
    await poll(api);
    expect(api.requests).toHaveLength(30);
  });

  it('continues after pages whose records are all invalid', async () => {
    const pages = 5;
    const api = fakeApi(() => {
      const page = api.requests.length;
      if (page === pages) return machinesPage({ system: [systemRecord()] });
      return machinesPage({ system: [{ timestamp: 'never' }] }, `${page}`);
    });
    const { machines } = await poll(api);
    expect(machines).toHaveLength(1);
    expect(api.invalidRecords()).toBe(4);
  });
});
