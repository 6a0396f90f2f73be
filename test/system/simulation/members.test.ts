import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { Config } from '../../../src/config/config.ts';
import { sourcesOf } from '../../../src/exporter/sources.ts';
import { epochAt } from '../../../src/lib/chain.ts';
import { committee } from '../../../src/sandbox/sync-committee.ts';
import type { Source } from '../../../src/sources/source.ts';
import { defaultConfig } from '../../support/default-config.ts';
import { logLines } from '../../support/log-lines.ts';
import { samplesOf } from '../../support/samples.ts';
import { Simulation, type SimulationOptions } from '../../support/simulation.ts';
import { DAY, HOUR, MINUTE } from '../../support/timing.ts';
import { PERIOD, startOfEpoch } from '../../support/validators.ts';
import { restarted } from './restart.ts';

const ID = 'validators-mainnet';
/** In the middle of a period. */
const START = startOfEpoch(1701 * 256) + 12 * HOUR;

/** Members alone. */
function config(): Config {
  const defaults = defaultConfig();
  return {
    ...defaults,
    machines: { ...defaults.machines, enabled: false },
    dailyReturns: { ...defaults.dailyReturns, enabled: false },
    syncCommittee: { ...defaults.syncCommittee, enabled: false },
    slashings: { ...defaults.slashings, enabled: false },
    validators: { ...defaults.validators, watch: { mainnet: [{ first: 0, last: 499 }], hoodi: [] }, status: false },
  };
}

function sources(operatorAt = START, log = pino({ enabled: false })): Source[] {
  return sourcesOf(config(), log, operatorAt);
}

const OWN = Array.from({ length: 500 }, (_, validator) => validator);
const SANDBOX = { watched: { validators: { mainnet: OWN, hoodi: [] }, slots: 8 } };

function simulation(options: Partial<SimulationOptions> = {}): Simulation {
  return new Simulation({ start: START, sources: sources(), sandbox: SANDBOX, ...options });
}

function periodAt(now: number): number {
  return Math.floor(epochAt('mainnet', now) / 256);
}

function shown(sim: Simulation, period: 'current' | 'next'): string[] | undefined {
  const { source, entry } = sim.view(ID);
  const families = source.families(entry.value, { ...sim.view(ID).timing, now: sim.clock.now() });
  const of = (name: string) =>
    samplesOf(families, `beaconchain_watched_sync_committee_${name}`).filter(
      ({ labels }) => labels['period'] === period,
    );
  if (of('validators').length === 0) return undefined;
  return of('validator').map(({ labels }) => labels['validator'] ?? '');
}

/** What the simulated service says of a period. */
function truth({ sandbox, clock }: Simulation, period: number): string[] {
  const { data } = JSON.parse(committee(sandbox, 'mainnet', String(period), clock.now() + 2 * PERIOD));
  const members = new Set<number>(data.validators.filter((validator: number) => validator < 500));
  return [...members].sort((a, b) => a - b).map(String);
}

/** The committees that were asked for, in order; a number is the current one. */
function asked({ exchanges }: Simulation): (string | undefined)[] {
  return exchanges.map(({ path }) => path.split('/').at(-1));
}

describe('system/simulation/members', () => {
  it('asks once a period for the next committee, and for the current one only at first', async () => {
    const sim = simulation();
    await sim.clock.advance(6 * PERIOD);
    expect(asked(sim)).toEqual(['1701', ...Array(7).fill('next')]);
    const { source } = sim.view(ID);
    expect(source.pace(Number.POSITIVE_INFINITY, 1).requestsPerDay * 6 * (PERIOD / DAY)).toBeCloseTo(6);
    await sim.stop();
  });

  it('shows what the service says at any time: the current members always, the next ones once they are known', async () => {
    const sim = simulation();
    await sim.clock.advance(MINUTE);
    let known = 0;
    for (let checks = 0; checks < 400; checks += 1) {
      const period = periodAt(sim.clock.now());
      expect(shown(sim, 'current'), new Date(sim.clock.now()).toISOString()).toEqual(truth(sim, period));
      const next = shown(sim, 'next');
      if (next) expect(next).toEqual(truth(sim, period + 1));
      known += next ? 1 : 0;
      await sim.clock.advance(17 * MINUTE);
    }
    // All but the first 40 minutes of a period.
    expect(known / 400).toBeGreaterThan(0.96);
    await sim.stop();
  });

  it('shows nothing that is over while nothing can be read for days, and all again afterwards', async () => {
    const sim = simulation();
    await sim.clock.advance(HOUR);
    sim.offline = true;
    await sim.clock.advance(startOfEpoch(1702 * 256) - sim.clock.now());
    expect(shown(sim, 'current')).toEqual(truth(sim, 1702));
    expect(shown(sim, 'next')).toBeUndefined();
    await sim.clock.advance(PERIOD);
    for (let days = 0; days < 4; days += 1) {
      expect(shown(sim, 'current')).toBeUndefined();
      expect(shown(sim, 'next')).toBeUndefined();
      await sim.clock.advance(DAY);
    }
    sim.offline = false;
    await sim.clock.advance(2 * HOUR);
    const period = periodAt(sim.clock.now());
    expect(shown(sim, 'current')).toEqual(truth(sim, period));
    expect(shown(sim, 'next')).toEqual(truth(sim, period + 1));
    await sim.stop();
  });

  it('a refusal is told once and costs one request a day; the source stays up, and a reload asks again', async () => {
    const { log, lines } = logLines();
    const sim = simulation({ sources: sources(START, log) });
    sim.sandbox.hasMembers = false;
    await sim.clock.advance(3 * DAY + HOUR);
    expect(sim.exchanges).toHaveLength(4);
    expect(sim.view(ID).entry).toMatchObject({ failuresInARow: 0 });
    expect(sim.view(ID).entry.pausedUntil).toBeUndefined();
    expect(lines.map(({ level, part, msg }) => [level, part, msg])).toEqual([
      ['warn', 'sync_committee', 'the service refuses a part of validators'],
    ]);
    sim.sandbox.hasMembers = true;
    sim.scheduler.adopt(sources(sim.clock.now(), log), new Map());
    await sim.clock.advance(10 * MINUTE);
    expect(shown(sim, 'current')).toEqual(truth(sim, periodAt(sim.clock.now())));
    await sim.stop();
  });

  it('a restart asks for nothing that is known, and one after days for what is not', async () => {
    const first = simulation();
    await first.clock.advance(HOUR);
    const sim = await restarted(first, sources(START + HOUR));
    await sim.clock.advance(HOUR);
    expect(sim.exchanges).toEqual([]);
    expect(shown(sim, 'next')).toEqual(truth(sim, 1702));
    const later = await restarted(sim, sources(START + 9 * DAY), { pauseMs: 9 * DAY });
    expect(shown(later, 'current')).toBeUndefined();
    await later.clock.advance(HOUR);
    expect(asked(later)).toEqual([String(periodAt(later.clock.now())), 'next']);
    await later.stop();
  });
});
