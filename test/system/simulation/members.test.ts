import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { Config } from '../../../src/config/config.ts';
import { sourcesOf } from '../../../src/exporter/sources.ts';
import { epochAt } from '../../../src/lib/chain.ts';
import { committee } from '../../../src/sandbox/sync-committee.ts';
import type { Source } from '../../../src/sources/source.ts';
import type { Entry } from '../../../src/state/entry.ts';
import { asked, endOf, membersAnswer, PERIOD } from '../../support/committees.ts';
import { defaultConfig } from '../../support/default-config.ts';
import { logLines } from '../../support/log-lines.ts';
import { samplesOf } from '../../support/samples.ts';
import { Simulation, type SimulationOptions } from '../../support/simulation.ts';
import { DAY, HOUR, MINUTE } from '../../support/timing.ts';
import { restarted } from './restart.ts';

const ID = 'sync_committee-mainnet';
/** In the middle of a period. */
const START = endOf(1700) + 12 * HOUR;

function config(overrides: Partial<Config['syncCommittee']> = {}): Config {
  const defaults = defaultConfig();
  return {
    ...defaults,
    machines: { ...defaults.machines, enabled: false },
    dailyReturns: { ...defaults.dailyReturns, enabled: false },
    slashings: {
      ...defaults.slashings,
      enabled: false,
      watch: { mainnet: [{ first: 0, last: 499 }], hoodi: [] },
    },
    syncCommittee: { ...defaults.syncCommittee, members: true, ...overrides },
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

/** The next committee is known from the start of a period on. */
const KNOWN_AT_ONCE: SimulationOptions['instead'] = (path, _body, now) =>
  path.endsWith('/next') ? JSON.stringify(membersAnswer(periodAt(now) + 1, [1, 2, 700])) : undefined;

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

function counted(sim: Simulation): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const one of asked(sim.exchanges)) {
    const kind = /^\d+$/.test(one ?? '') ? 'current' : (one ?? '');
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

describe('system/simulation/members', () => {
  it('asks once a period for the period and once for the next committee, the current one only at first', async () => {
    const sim = simulation({ instead: KNOWN_AT_ONCE });
    await sim.clock.advance(6 * PERIOD);
    expect(counted(sim)).toEqual({ 'sync-committee': 7, current: 1, next: 7 });
    const { source, entry } = sim.view(ID);
    expect(entry.costs).toEqual([2, 2, 2, 2, 2]);
    expect(source.pace(Number.POSITIVE_INFINITY, 2).requestsPerDay * 6 * (PERIOD / DAY)).toBeCloseTo(12);
    await sim.stop();
  });

  it('asks again an interval later for a next committee that is not known five minutes after the start', async () => {
    const sim = simulation();
    await sim.clock.advance(6 * PERIOD);
    expect(counted(sim)).toEqual({ 'sync-committee': 7, current: 1, next: 13 });
    expect(sim.view(ID).entry).toMatchObject({ failuresInARow: 0 });
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
    // All but the first 65 minutes of a period.
    expect(known / 400).toBeGreaterThan(0.95);
    await sim.stop();
  });

  it('shows nothing that is over while nothing can be read for days, and all again afterwards', async () => {
    const sim = simulation();
    await sim.clock.advance(HOUR);
    sim.offline = true;
    await sim.clock.advance(endOf(1701) - sim.clock.now());
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
    await sim.clock.advance(3 * PERIOD);
    expect(counted(sim)).toEqual({ 'sync-committee': 4, current: 4 });
    expect(sim.view(ID).entry).toMatchObject({ failuresInARow: 0 });
    expect(sim.view(ID).entry.pausedUntil).toBeUndefined();
    expect(lines.map(({ level, msg }) => [level, msg])).toEqual([['warn', 'sync committee members cannot be read']]);
    sim.scheduler.adopt(sources(sim.clock.now(), log), new Map());
    await sim.clock.advance(MINUTE);
    expect(counted(sim)).toEqual({ 'sync-committee': 4, current: 5 });
    expect(lines).toHaveLength(2);
    // Reloads that come often do not ask more often than the interval.
    for (let reloads = 0; reloads < 12; reloads += 1) {
      sim.scheduler.adopt(sources(sim.clock.now(), log), new Map());
      await sim.clock.advance(10 * MINUTE);
    }
    expect(counted(sim)['current']).toBe(7);
    sim.sandbox.hasMembers = true;
    sim.scheduler.adopt(sources(sim.clock.now(), log), new Map());
    await sim.clock.advance(HOUR);
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
    expect(asked(later.exchanges)).toEqual(['sync-committee', String(periodAt(later.clock.now())), 'next']);
    await later.stop();
  });

  it('members that are switched on are asked for at once, the period is not', async () => {
    const off = new Simulation({
      start: START,
      sources: sourcesOf(config({ members: false }), pino({ enabled: false }), START),
    });
    await off.clock.advance(MINUTE);
    expect(asked(off.exchanges)).toEqual(['sync-committee']);
    expect(Object.keys((off.entries.get(ID) as Entry<object>).value)).toEqual(['period']);
    const sim = await restarted(off, sources(START + MINUTE));
    await sim.clock.advance(MINUTE);
    expect(asked(sim.exchanges)).toEqual(['1701', 'next']);
    await sim.stop();
  });
});
