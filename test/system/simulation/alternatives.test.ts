import { describe, expect, it } from 'vitest';
import { Sandbox } from '../../../src/sandbox/world.ts';
import { periodAnswer } from '../../support/committees.ts';
import { defaultConfig } from '../../support/default-config.ts';
import { configured } from '../../support/month.ts';
import { type Exchange, Simulation } from '../../support/simulation.ts';
import { DAY, HOUR } from '../../support/timing.ts';
import { restarted } from './restart.ts';

const START = Date.UTC(2026, 9, 10);
const OPTIONS = { plan: { perSecond: 5 }, machines: 1, slotsPerSlashing: 5_000 } as const;
/** The machines are asked in one way only. */
const ASKED = { machines: { ...defaultConfig().machines, enabled: false } };
const EPOCHS_PER_HOUR = 9.375;
const PAGE = '<!doctype html><title>Not here</title>';

/** A gateway answers with a page of its own what the service does not know: a path, and the name `latest`. */
function strange(path: string, body: string): string | undefined {
  const { view, number } = body.includes('sync_committee_period') ? JSON.parse(body).sync_committee_period : {};
  if (path.endsWith('/benchmark-store') || path.endsWith('/epoch/latest/slots') || view) return PAGE;
  return number === undefined ? undefined : JSON.stringify(periodAnswer(number));
}

/** In place of numbers that change: what a request asked for. */
function kindOf({ path, body }: Exchange): string {
  if (path.endsWith('/sync-committee')) return body.includes('number') ? 'period by number' : 'period by name';
  return path.replace(/^.*\/(?=epoch|ethereum)/, '').replace(/\d+/, 'N');
}

function countsOf(exchanges: readonly Exchange[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(exchanges, kindOf)].map(([kind, all]) => [kind, all.length]));
}

describe('system/simulation/alternatives', () => {
  it('a service with another path, and without latest: all is read, over restarts, at one request a day each', async () => {
    const sources = configured(ASKED);
    const sandbox = new Sandbox({ ...OPTIONS, start: START });
    sandbox.dailyReturnsPath = 'eth-store';
    let sim = new Simulation({ start: START, sandbox, sources, instead: strange, sleepsLong: true });
    const exchanges: Exchange[] = [];
    for (let day = 1; day <= 3; day += 1) {
      await sim.clock.advance(DAY);
      for (const { source, entry } of sim.scheduler.views())
        expect(entry.lastError, `${day}: ${source.name}`).toBeUndefined();
      exchanges.push(...sim.exchanges);
      sim = await restarted(sim, sources, { instead: strange, sleepsLong: true });
    }
    const { value } = sim.view('slashings-mainnet').entry as { value: { totals: Record<string, number> } };
    expect(value.totals['skippedEpochs']).toBe(0);
    expect(sim.view('sync_committee-mainnet').entry.value).toMatchObject({ selector: { first: 'number' } });
    await sim.stop();
    const counts = countsOf(exchanges);
    // Once where nothing had answered.
    expect(counts['ethereum/benchmark-store']).toBe(1);
    expect(counts['ethereum/eth-store']).toBeLessThanOrEqual(2 + 3 * 2);
    // Once a day.
    expect(counts['epoch/latest/slots']).toBe(3);
    expect(counts['period by name']).toBeLessThanOrEqual(3);
    expect(exchanges.filter(({ status }) => status === 429)).toEqual([]);
  });

  it('as with latest: each slashing is counted, at no more requests than the start of each epoch takes', async () => {
    const run = async (instead?: typeof strange): Promise<[number, unknown]> => {
      const sandbox = new Sandbox({ ...OPTIONS, start: START });
      const sim = new Simulation({
        start: START,
        sandbox,
        sources: configured(ASKED),
        sleepsLong: true,
        ...(instead && { instead }),
      });
      // The first hour apart, in which the service answers in one way or the other.
      await sim.clock.advance(HOUR);
      const before = sim.exchanges.length;
      await sim.clock.advance(8 * HOUR);
      await sim.stop();
      const { value } = sim.view('slashings-mainnet').entry as { value: { totals: unknown; headEpoch: number } };
      return [sim.exchanges.length - before, { totals: value.totals, headEpoch: value.headEpoch }];
    };
    const [usual, told] = await run();
    const [byNumber, toldByNumber] = await run((path, body) =>
      path.endsWith('/benchmark-store') ? undefined : strange(path, body),
    );
    expect(toldByNumber).toEqual(told);
    expect(byNumber).toBeGreaterThan(usual - 10);
    expect(byNumber).toBeLessThan(usual + 8 * EPOCHS_PER_HOUR + 10);
  });

  it('a service that answers nothing of it: one further request a day each, over restarts', async () => {
    const nothing = (path: string): string | undefined => (path.endsWith('machine-metrics') ? undefined : PAGE);
    const sources = configured(ASKED);
    let sim = new Simulation({ start: START, sandbox: OPTIONS, sources, instead: nothing });
    const exchanges: Exchange[] = [];
    for (let day = 1; day <= 2; day += 1) {
      await sim.clock.advance(DAY);
      exchanges.push(...sim.exchanges);
      sim = await restarted(sim, sources, { instead: nothing });
    }
    await sim.stop();
    const counts = countsOf(exchanges);
    expect(counts['ethereum/benchmark-store']).toBeGreaterThan(40);
    expect([counts['ethereum/eth-store'], counts['period by number'], counts['epoch/N/slots']]).toEqual([2, 2, 2]);
  });
});
