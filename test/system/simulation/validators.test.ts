import { describe, expect, it } from 'vitest';
import type { Config } from '../../../src/config/config.ts';
import { sourcesOf } from '../../../src/exporter/sources.ts';
import type { Source } from '../../../src/sources/source.ts';
import { defaultConfig } from '../../support/default-config.ts';
import { sampleValue } from '../../support/samples.ts';
import { Simulation } from '../../support/simulation.ts';
import { HOUR, MINUTE } from '../../support/timing.ts';
import { EPOCH, startOfEpoch } from '../../support/validators.ts';

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
