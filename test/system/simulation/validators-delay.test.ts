import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { Config } from '../../../src/config/config.ts';
import { sourcesOf } from '../../../src/exporter/sources.ts';
import { defaultConfig } from '../../support/default-config.ts';
import { sampleValue } from '../../support/samples.ts';
import { Simulation } from '../../support/simulation.ts';
import { HOUR, MINUTE } from '../../support/timing.ts';
import { EPOCH, startOfEpoch } from '../../support/validators.ts';

const STEP = MINUTE / 2;

/** Default settings, and so many watched validators. */
function watching(validators: number): Config {
  const defaults = defaultConfig();
  const watch = { mainnet: [{ first: 0, last: validators - 1 }], hoodi: [] };
  return { ...defaults, validators: { ...defaults.validators, watch } };
}

/** Nothing but the status. */
function statusAlone(validators: number): Config {
  const config = watching(validators);
  return {
    ...config,
    machines: { ...config.machines, enabled: false },
    dailyReturns: { ...config.dailyReturns, enabled: false },
    syncCommittee: { ...config.syncCommittee, enabled: false },
    slashings: { ...config.slashings, enabled: false },
    validators: { ...config.validators, syncCommittee: false },
  };
}

function started(config: Config, plan: 'free_trial' | 'hobbyist'): Simulation {
  const sources = sourcesOf(config, pino({ enabled: false }), 0);
  return new Simulation({ start: startOfEpoch(444_377), sources, sandbox: { plan } });
}

function value(sim: Simulation, name: string, validator?: number): number | undefined {
  const { source, entry, timing } = sim.view('validators-mainnet');
  const labels = { chain: 'mainnet', ...(validator !== undefined && { validator: String(validator) }) };
  return sampleValue(source.families(entry.value, timing), `beaconchain_watched_${name}`, labels);
}

interface Delay {
  /** Minutes from the failure until a series says so. */
  shown?: number;
  /** Minutes until the condition of BeaconchainValidatorOffline holds. */
  alert?: number;
}

/** Takes validators offline and brings them back once the alert fires. The values of the others never go. */
async function delaysOf(sim: Simulation, validators: readonly number[]): Promise<Delay[]> {
  const failedAt = sim.clock.now();
  for (const validator of validators) sim.sandbox.takeOffline('mainnet', validator, failedAt);
  const delays = validators.map((): Delay => ({}));
  while (delays.some(({ alert }) => alert === undefined)) {
    await sim.clock.advance(STEP);
    expect(value(sim, 'validators_online')).toBeDefined();
    const minutes = (sim.clock.now() - failedAt) / MINUTE;
    for (const [i, delay] of delays.entries()) {
      const since = value(sim, 'validator_offline_since_timestamp_seconds', validators[i]);
      if (since === undefined) continue;
      delay.shown ??= minutes;
      if (since < (value(sim, 'validators_epoch_timestamp_seconds') ?? 0)) delay.alert ??= minutes;
    }
  }
  for (const validator of validators) sim.sandbox.bringBack('mainnet', validator, sim.clock.now());
  return delays;
}

/** The service tells it up to three epochs and a minute after the failure. */
const TOLD = (3 * EPOCH) / MINUTE + 1;

function expectWithin(delays: readonly Delay[], intervalMs: number, polls: number): void {
  const interval = intervalMs / MINUTE;
  for (const { shown = 0, alert = 0 } of delays) {
    expect(shown).toBeGreaterThan((2 * EPOCH) / MINUTE);
    expect(shown).toBeLessThanOrEqual(TOLD + (polls - 1) * interval + 1);
    expect(alert).toBeGreaterThan(shown);
    expect(alert).toBeLessThanOrEqual(TOLD + polls * interval + 1);
  }
}

describe('a validator that goes offline', () => {
  it('is shown with the next poll after the service tells it, and alerts with one more', async () => {
    const sim = started(statusAlone(4), 'hobbyist');
    for (let phase = 0; phase < 8; phase += 1) {
      await sim.clock.advance(HOUR + phase * 48_000);
      expectWithin(await delaysOf(sim, [phase % 4]), EPOCH, 2);
    }
    await sim.stop();
  });

  it('among 10,000, whose poll takes 19 minutes, alerts within three polls, and the values never go', async () => {
    const sim = started(statusAlone(10_000), 'hobbyist');
    // The first poll.
    await sim.clock.advance(20 * MINUTE);
    const delays = await delaysOf(sim, [0, 5_000, 9_999]);
    expectWithin(delays, 19 * MINUTE, 3);
    await sim.stop();
  });

  it('is told on a trial too, with its stretched interval', async () => {
    const sim = started(watching(4), 'free_trial');
    await sim.clock.advance(9 * HOUR);
    const delays = await delaysOf(sim, [2]);
    const { intervalMs } = sim.view('validators-mainnet').timing;
    expect(intervalMs).toBeGreaterThan(2 * HOUR);
    expect(intervalMs).toBeLessThan(4 * HOUR);
    expectWithin(delays, intervalMs, 2);
    await sim.stop();
  });
});
