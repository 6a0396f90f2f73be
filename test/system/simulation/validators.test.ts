import { describe, expect, it } from 'vitest';
import type { Config } from '../../../src/config/config.ts';
import { sourcesOf } from '../../../src/exporter/sources.ts';
import { epochAt } from '../../../src/lib/chain.ts';
import { committee } from '../../../src/sandbox/sync-committee.ts';
import type { Source } from '../../../src/sources/source.ts';
import { defaultConfig } from '../../support/default-config.ts';
import { samplesOf, sampleValue } from '../../support/samples.ts';
import { Simulation } from '../../support/simulation.ts';
import { DAY, HOUR, MINUTE } from '../../support/timing.ts';
import { EPOCH, PERIOD, startOfEpoch } from '../../support/validators.ts';
import { restarted } from './restart.ts';

const ID = 'validators-mainnet';
/** In the middle of a period. */
const START = startOfEpoch(1701 * 256) + 12 * HOUR;

/** The source of so many watched validators, with the status or the committees alone. */
function sources(validators: number, changes: Partial<Config['validators']>): Source[] {
  const defaults = defaultConfig();
  const watch = { mainnet: [{ first: 0, last: validators - 1 }], hoodi: [] };
  const config = { ...defaults, validators: { ...defaults.validators, watch, ...changes } };
  return sourcesOf(config).filter(({ name }) => name === 'validators');
}

describe('system/simulation/validators: members of sync committees', () => {
  const MEMBERS = sources(500, { status: false });
  const OWN = Array.from({ length: 500 }, (_, validator) => validator);
  const SANDBOX = { watched: { validators: { mainnet: OWN, hoodi: [] }, slots: 8 } };

  function shown(sim: Simulation, period: 'current' | 'next'): string[] | undefined {
    const { source, entry, timing } = sim.view(ID);
    const families = source.families(entry.value, timing);
    const of = (name: string): Readonly<Record<string, string>>[] =>
      samplesOf(families, `beaconchain_watched_sync_committee_${name}`)
        .map(({ labels }) => labels)
        .filter((labels) => labels['period'] === period);
    return of('validators').length === 0 ? undefined : of('validator').map(({ validator = '' }) => validator);
  }

  /** What the simulated service says of the period that comes so many after the current one. */
  function truth({ sandbox, clock }: Simulation, later = 0): string[] {
    const period = Math.floor(epochAt('mainnet', clock.now()) / 256) + later;
    const { data } = JSON.parse(committee(sandbox, 'mainnet', String(period), clock.now() + 2 * PERIOD));
    const members = new Set<number>(data.validators.filter((validator: number) => validator < 500));
    return [...members].sort((a, b) => a - b).map(String);
  }

  it('are those of the service at any time, for one request a period', async () => {
    const sim = new Simulation({ start: START, sources: MEMBERS, sandbox: SANDBOX });
    await sim.clock.advance(MINUTE);
    for (let checks = 0; checks < 100; checks += 1) {
      expect(shown(sim, 'current')).toEqual(truth(sim));
      const next = shown(sim, 'next');
      if (next) expect(next).toEqual(truth(sim, 1));
      await sim.clock.advance(67 * MINUTE);
    }
    const asked = sim.exchanges.map(({ path }) => path.split('/').at(-1));
    expect(asked).toEqual(['1701', ...Array(5).fill('next')]);
    await sim.stop();
  });

  it('go when they are over and nothing can be read, and a restart asks for what is not known alone', async () => {
    const sim = new Simulation({ start: START, sources: MEMBERS, sandbox: SANDBOX });
    await sim.clock.advance(HOUR);
    sim.offline = true;
    await sim.clock.advance(startOfEpoch(1702 * 256) - sim.clock.now());
    expect([shown(sim, 'current'), shown(sim, 'next')]).toEqual([truth(sim), undefined]);
    await sim.clock.advance(PERIOD + DAY);
    expect([shown(sim, 'current'), shown(sim, 'next')]).toEqual([undefined, undefined]);
    let again = await restarted(sim, MEMBERS);
    await again.clock.advance(2 * HOUR);
    expect([shown(again, 'current'), shown(again, 'next')]).toEqual([truth(again), truth(again, 1)]);
    again = await restarted(again, MEMBERS);
    await again.clock.advance(HOUR);
    expect(again.exchanges).toEqual([]);
    await again.stop();
  });
});

describe('system/simulation/validators: one that goes offline', () => {
  function value(sim: Simulation, name: string, validator?: number): number | undefined {
    const { source, entry, timing } = sim.view(ID);
    const labels = { chain: 'mainnet', ...(validator !== undefined && { validator: String(validator) }) };
    return sampleValue(source.families(entry.value, timing), `beaconchain_watched_${name}`, labels);
  }

  it.each([
    [4, 0, 2, EPOCH],
    // A poll of all takes 19 minutes.
    [10_000, 5_000, 3, 19 * MINUTE],
  ])(
    'of %i (number %i) is shown within %i polls after the service tells it',
    async (count, validator, polls, intervalMs) => {
      const sim = new Simulation({
        start: START,
        sources: sources(count, { syncCommittee: false }),
        sandbox: { plan: 'hobbyist' },
      });
      await sim.clock.advance(HOUR);
      const failedAt = sim.clock.now();
      sim.sandbox.takeOffline('mainnet', validator, failedAt);
      while (value(sim, 'validator_offline_since_timestamp_seconds', validator) === undefined) {
        await sim.clock.advance(MINUTE);
        // The values of the others never go.
        expect(value(sim, 'validators_online')).toBeDefined();
      }
      const delay = sim.clock.now() - failedAt;
      expect(delay).toBeGreaterThan(2 * EPOCH);
      // The service reports it up to three epochs and a minute after the failure.
      expect(delay).toBeLessThanOrEqual(3 * EPOCH + MINUTE + (polls - 1) * intervalMs + MINUTE);
      await sim.stop();
    },
  );
});
