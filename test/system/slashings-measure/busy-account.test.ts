import { describe, expect, it } from 'vitest';
import { slotTime } from '../../../src/lib/chain.ts';
import { unit } from '../../../src/lib/random.ts';
import { Sandbox } from '../../../src/sandbox/world.ts';
import { slashingsSource } from '../../../src/sources/slashings/index.ts';
import { defaultConfig } from '../../support/default-config.ts';
import { Fleet } from '../../support/fleet.ts';
import { configured } from '../../support/month.ts';
import { Simulation } from '../../support/simulation.ts';
import { slashingsOptions } from '../../support/slashings-options.ts';
import { HOUR, NOW } from '../../support/timing.ts';
import { ABOUT_A_MINUTE_MS, CachingService } from './caching-service.ts';

const { intervalMs } = defaultConfig().slashings;
/** More machines than the plan reads each minute: a request is always waiting. */
const MACHINES = 480;
const PLAN = 'hobbyist';
const MAX_LATENCY_MS = 400;
const HOURS = 3;
/** The service tells of a slot when it is over. */
const REPORTED_AFTER_MS = 12_000;

describe('system/slashings-measure/busy-account', () => {
  it('keeps head passes further apart than the service keeps its answers, beside a fleet at the limit per second', async ({
    annotate,
  }) => {
    const sandbox = new Sandbox({ start: NOW, seed: 'busy account', slotsPerSlashing: 25, plan: PLAN, machines: 0 });
    const service = new CachingService(sandbox, { neighbours: 'none', keptMs: ABOUT_A_MINUTE_MS }, 1);
    const fleet = new Fleet({ machines: MACHINES, seed: 1 });
    const delays: number[] = [];
    const slashings = slashingsSource(
      slashingsOptions({
        intervalMs,
        onSlashing({ slot }) {
          const at = slotTime('mainnet', slot) * 1000;
          if (at > NOW) delays.push(simulation.clock.now() - at);
        },
      }),
    );
    let draws = 0;
    const simulation = new Simulation({
      start: NOW,
      sandbox,
      sources: configured().map((source) => (source.name === 'slashings' ? slashings : source)),
      way() {
        draws += 1;
        const latency = MAX_LATENCY_MS * unit(1, draws);
        return [latency / 2, latency / 2];
      },
      instead(path, body, now) {
        if (path.endsWith('/machine-metrics')) return fleet.answer(JSON.parse(body), now);
        return path.startsWith('/api/v1/') ? JSON.stringify(service.answer({ path }, now)) : undefined;
      },
    });
    await simulation.clock.advance(HOURS * HOUR);
    await simulation.stop();

    const sorted = delays.toSorted((a, b) => a - b);
    const [median = 0, worst = 0] = [sorted[sorted.length >> 1], sorted.at(-1)];
    const passes = simulation.exchanges.filter(({ path }) => path.endsWith('/latest/slots'));
    const gaps = passes.slice(1).map(({ at }, i) => at - (passes[i]?.at ?? at));
    const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
    await annotate(`${delays.length} slashings, median ${median / 1000} s, worst ${worst / 1000} s`);
    await annotate(`head passes ${Math.min(...gaps)} to ${Math.max(...gaps)} ms apart, on average ${mean}`);
    expect(delays.length).toBeGreaterThan(30);
    expect(Math.min(...gaps)).toBeGreaterThan(ABOUT_A_MINUTE_MS + MAX_LATENCY_MS);
    expect(Math.abs(mean / intervalMs - 1)).toBeLessThan(0.05);
    expect(median).toBeLessThan(50_000);
    // The details of a slashing are a request more.
    expect(worst).toBeLessThan(intervalMs + REPORTED_AFTER_MS + 5_000);
  });
});
