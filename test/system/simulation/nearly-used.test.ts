import { describe, expect, it } from 'vitest';
import { Sandbox } from '../../../src/sandbox/world.ts';
import { BOTH_CHAINS } from '../../support/default-config.ts';
import { configured, runMonth } from '../../support/month.ts';
import { DAY, MINUTE } from '../../support/timing.ts';

const OCTOBER_15 = Date.UTC(2026, 9, 15);
const NOVEMBER = Date.UTC(2026, 10, 1);

describe('system/simulation/nearly-used: a first start with 40 of 1,000 requests left', () => {
  it.each([
    ['one chain', {}, 9],
    ['two chains', BOTH_CHAINS, 12],
  ])('%s: looks at everything once, and then lives on the rest until there is more', async (_title, config, most) => {
    const sandbox = new Sandbox({
      start: OCTOBER_15,
      plan: 'free_trial',
      machines: 3,
      slotsPerSlashing: Number.POSITIVE_INFINITY,
    });
    sandbox.spend(960, OCTOBER_15 - DAY);
    const month = await runMonth({ start: OCTOBER_15, hours: 22 * 24, sandbox, sources: configured(config) });
    const times = month.sim.exchanges.map(({ at }) => at);
    // Each source once, and the machines that may have gone silent before.
    expect(times.filter((at) => at < OCTOBER_15 + MINUTE).length).toBeLessThanOrEqual(most);
    // The first answer told what is left, before a second request left.
    expect((times[1] ?? 0) - OCTOBER_15).toBeGreaterThanOrEqual(1_000);
    expect(times.filter((at) => at < NOVEMBER).length).toBeLessThanOrEqual(40);
    expect(month.refused).toEqual({});
    for (const { source, entry } of month.sim.scheduler.views()) {
      expect(entry.lastError, source.name).toBeUndefined();
      expect(entry.lastSuccessAt, source.name).toBeGreaterThan(NOVEMBER);
    }
  });
});
