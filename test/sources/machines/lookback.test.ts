import { describe, expect, it } from 'vitest';
import { machinesSource } from '../../../src/sources/machines/index.ts';
import type { Machines } from '../../../src/sources/machines/schema.ts';
import { splitRange } from '../../../src/sources/machines/sweep.ts';
import { type FakeApi, failed, fakeApi } from '../../support/fake-api.ts';
import { machinesOptions, machinesPage, systemRecord } from '../../support/machine-records.ts';
import { HOUR, MINUTE, NOW, noSignal, timing } from '../../support/timing.ts';

interface Body {
  readonly range: { readonly timestamp: { readonly start: number; readonly end: number } };
  readonly machines?: readonly string[];
}

function bodies(api: FakeApi): Body[] {
  return api.requests.map(({ body }) => body as Body);
}

/** Hours before NOW at which the requests of a poll end, those by name left out. */
function hoursBack(api: FakeApi): number[] {
  const sweeps = bodies(api).filter(({ machines }) => machines === undefined);
  return sweeps.map(({ range }) => Math.round((NOW / 1000 - range.timestamp.end) / 3_600) + 0);
}

function namesAsked(api: FakeApi): unknown[] {
  return bodies(api).flatMap(({ machines }) => machines ?? []);
}

describe('sources/machines/lookback', () => {
  function found(count: number): FakeApi {
    const system = Array.from({ length: count }, (_, i) => systemRecord({ machine: `m${i}` }));
    return fakeApi(() => machinesPage({ system }));
  }

  async function poll(api: FakeApi, previous?: Machines, expected: string[] = [], now = NOW): Promise<Machines> {
    const source = machinesSource(machinesOptions({ expected }), () => undefined);
    const { value } = await source.poll(api, previous ?? source.empty, timing({ now }), noSignal());
    return source.state.parse(JSON.parse(JSON.stringify(value)));
  }

  it('probes the past of a small fleet at the first start, one page each, and never again', async () => {
    const first = found(10);
    const state = await poll(first);
    expect(hoursBack(first)).toEqual([0, 1, 3, 6, 12, 24]);
    const second = found(10);
    await poll(second, state);
    expect(new Set(hoursBack(second))).toEqual(new Set([0]));
  });

  it('does not follow the cursor of a probe', async () => {
    const api = fakeApi(() => machinesPage({ system: [systemRecord()] }, api.requests.length > 1 ? 'more' : undefined));
    await poll(api);
    expect(api.requests).toHaveLength(6);
  });

  it('finds a machine that went silent before the first start', async () => {
    const timestamp = NOW - 12 * HOUR - 30_000;
    const api = fakeApi(({ body }) => {
      const { start, end } = (body as Body).range.timestamp;
      const isThere = start * 1000 <= timestamp && timestamp <= end * 1000;
      return machinesPage({ system: isThere ? [systemRecord({ machine: 'silent', timestamp })] : [] });
    });
    expect((await poll(api)).machines.map(({ name }) => name)).toEqual(['silent']);
  });

  it('does not probe the past of a large fleet', async () => {
    const api = found(11);
    const state = await poll(api);
    expect(hoursBack(api)).toEqual([0]);
    const second = found(0);
    await poll(second, { ...state, machines: [] });
    expect(new Set(hoursBack(second))).toEqual(new Set([0]));
  });

  it('asks once, over 31 days, for each expected machine that was not found', async () => {
    const expected = ['m0', 'gone', 'gone', 'lost'];
    const first = found(1);
    const state = await poll(first, undefined, expected);
    expect(namesAsked(first)).toEqual(['gone', 'lost']);
    const { start, end } = bodies(first).at(-1)?.range.timestamp ?? { start: 0, end: 0 };
    expect(end - start).toBeLessThanOrEqual(31 * 86_400);
    expect(end - start).toBeGreaterThan(30 * 86_400);
    const second = found(1);
    await poll(second, state, expected);
    expect(namesAsked(second)).toEqual([]);
  });

  it('asks for nobody who is excluded', async () => {
    const api = found(1);
    const source = machinesSource(machinesOptions({ expected: ['gone'], exclude: ['gone'] }), () => undefined);
    await source.poll(api, source.empty, timing(), noSignal());
    expect(namesAsked(api)).toEqual([]);
  });

  it('asks for at most twenty expected machines an hour', async () => {
    const expected = Array.from({ length: 45 }, (_, i) => `x${i}`);
    const asked: unknown[] = [];
    let state: Machines | undefined;
    for (let minutes = 0; minutes < 120; minutes += 1) {
      const api = found(0);
      state = await poll(api, state, expected, NOW + minutes * MINUTE);
      asked.push(...namesAsked(api));
      expect(asked.length).toBeLessThanOrEqual(minutes < 60 ? 20 : 40);
    }
    expect(asked).toEqual(expected.slice(0, 40));
  });

  it.each(['invalid_body', 'server_error', 'timeout', 'network'] as const)(
    'asks again after a failure that is no decision, %s, and counts as asked what was answered',
    async (reason) => {
      const asked: string[] = [];
      let state: Machines | undefined;
      let failures = 0;
      for (let i = 0; i < 12; i += 1) {
        const api = fakeApi((request) => {
          const { machines, range } = request.body as Body;
          const hours = Math.round((NOW / 1000 + 60 * i - range.timestamp.end) / 3_600);
          const what = machines?.[0] ?? (hours > 0 ? `${hours} h` : '');
          if (what === '') return machinesPage({});
          if (['3 h', 'b'].includes(what) && failures < 4) {
            failures += 1;
            throw failed(request, reason);
          }
          failures = 0;
          asked.push(what);
          return machinesPage({});
        });
        state = await poll(api, state, ['a', 'b', 'c'], NOW + i * MINUTE);
      }
      expect(asked).toEqual(['1 h', '3 h', '6 h', '12 h', '24 h', 'a', 'b', 'c']);
    },
  );

  it('gives up what fails each time, so that sweeps do not fail for ever', async () => {
    const asked: string[] = [];
    let state: Machines | undefined;
    for (let i = 0; i < 30; i += 1) {
      const api = fakeApi((request) => {
        const { machines } = request.body as Body;
        if (!machines) return machinesPage({});
        asked.push(machines[0] ?? '');
        throw failed(request, 'invalid_body');
      });
      state = await poll(api, state, ['a', 'b'], NOW + i * MINUTE);
    }
    expect(asked).toEqual([...Array(5).fill('a'), ...Array(5).fill('b')]);
  });

  it('makes no attempt twice when one is refused', async () => {
    const asked: string[] = [];
    let state: Machines | undefined;
    for (let i = 0; i < 5; i += 1) {
      const api = fakeApi((request) => {
        const { machines, range } = request.body as Body;
        const isProbe = !machines && range.timestamp.end < NOW / 1000;
        if (machines || isProbe) asked.push(machines?.[0] ?? 'probe');
        if (isProbe || machines?.includes('b')) throw failed(request, 'bad_request');
        return machinesPage({});
      });
      state = await poll(api, state, ['a', 'b', 'c'], NOW + i * MINUTE);
    }
    expect(asked).toEqual(['probe', 'a', 'b', 'c']);
  });
});

describe('sources/machines/sweep splitRange', () => {
  it('cover the range without a gap, a small fleet with one', () => {
    const range = { start: 1_000, end: 1_075 };
    expect(splitRange(range, 300)).toEqual([range]);
    for (const machines of [1_000, 100_000]) {
      const cut = splitRange(range, machines);
      expect(cut.length).toBeGreaterThan(1);
      expect([cut[0]?.start, cut.at(-1)?.end]).toEqual([1_000, 1_075]);
      for (const [i, slice] of cut.slice(1).entries()) expect(slice.start).toBe(cut[i]?.end);
    }
  });
});
