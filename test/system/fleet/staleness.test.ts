import { describe, expect, it, onTestFinished } from 'vitest';
import { Exposition, type Part } from '../../../src/metrics/exposition.ts';
import type { SourceView } from '../../../src/scheduler/schedules.ts';
import { ARRAYS, type ArrayName } from '../../support/fleet.ts';
import { FleetRun, type FleetRunOptions } from '../../support/fleet-run.ts';
import { HOUR, MINUTE } from '../../support/timing.ts';

const SECOND = 1_000;
const STALE = 10 * MINUTE;

/** A fleet, the program that polls it, and what it shows. All is on virtual time but the compression, which is awaited. */
class ShownFleet {
  readonly run: FleetRun;
  readonly #exposition: Exposition;
  readonly #abort = new AbortController();
  /** What was shown when the rendering that is not done yet began. */
  #replaced: Buffer | undefined;

  constructor(options: FleetRunOptions) {
    this.run = new FleetRun({ ...options, onChange: () => this.#exposition.touch('machines') });
    const { clock } = this.run.sim;
    const view = (): SourceView => this.run.sim.view('machines');
    const part: Part = {
      name: 'machines',
      families: () => {
        this.#replaced = this.#bytes();
        return view().source.families(view().entry.value, view().timing);
      },
      nextChange: () => view().source.nextChange(view().entry.value, view().timing),
    };
    this.#exposition = new Exposition([part], clock, (error) => {
      throw error;
    });
  }

  async start(): Promise<void> {
    await this.#exposition.refresh();
    const loop = this.#exposition.run(this.#abort.signal);
    onTestFinished(async () => {
      this.#abort.abort();
      await Promise.all([loop, this.run.sim.stop()]);
    });
  }

  /** Waits, without letting virtual time pass, for what is being rendered. */
  async rendered(): Promise<void> {
    await expect.poll(() => this.#bytes(), { interval: 1 }).not.toBe(this.#replaced);
  }

  async advanceTo(at: number): Promise<void> {
    const { clock } = this.run.sim;
    await clock.advance(Math.max(0, at - clock.now() - 3 * SECOND));
    await this.rendered();
    while (clock.now() < at) {
      await clock.advance(Math.min(50, at - clock.now()));
      await this.rendered();
    }
  }

  /** Names of the families with a sample of a machine, of the bytes as they are now. */
  familiesOf(machine: string): string[] {
    const lines = this.#lines().filter((line) => line.includes(`machine="${machine}"`));
    return [...new Set(lines.map((line) => line.slice('beaconchain_'.length, line.indexOf('{'))))];
  }

  /** The first sample whose name and labels begin so. */
  sample(begin: string): string | undefined {
    return this.#lines().find((line) => line.startsWith(`beaconchain_${begin}`));
  }

  #lines(): string[] {
    return (this.#bytes()?.toString() ?? '').split('\n');
  }

  #bytes(): Buffer | undefined {
    return this.#exposition.chunks('text', false)[0];
  }
}

async function shownFleet(options: FleetRunOptions): Promise<ShownFleet> {
  const shown = new ShownFleet(options);
  await shown.start();
  return shown;
}

/** Unix ms of the records that are held of a machine. */
function held({ sweeps }: FleetRun, name: string): Partial<Record<ArrayName, number>> {
  const machine = sweeps.at(-1)?.machines.get(name);
  return Object.fromEntries(ARRAYS.map((array) => [array, (machine?.[array]?.timestamp ?? 0) * 1_000]));
}

const LAST_SEEN = ['machine_last_seen_timestamp_seconds'];

describe('fleet: staleness', () => {
  describe.each(['up', 'down'])('with the API %s', (api) => {
    it('values are withdrawn within a second of stale_after, last_seen only at forget_after', async () => {
      const shown = await shownFleet({ machines: 9, options: { forgetAfterMs: HOUR } });
      await shown.run.sweep(2);
      const { system = 0, node = 0 } = held(shown.run, 'm3');
      shown.run.fleet.silence('m3', node + 1);
      if (api === 'down') shown.run.sim.sandbox.outage = true;

      await shown.advanceTo(system + STALE);
      expect(shown.familiesOf('m3')).toContain('machine_cpu_user_seconds_total');
      await shown.advanceTo(node + STALE + SECOND);
      expect(shown.familiesOf('m3')).toEqual(LAST_SEEN);

      await shown.advanceTo(system + HOUR);
      expect(shown.familiesOf('m3')).toEqual(LAST_SEEN);
      await shown.advanceTo(node + HOUR + SECOND);
      expect(shown.familiesOf('m3')).toEqual([]);
      expect(shown.familiesOf('m4').includes('machine_synced')).toBe(api === 'up');
    });
  });

  it('a process that ended is withdrawn alone', async () => {
    const shown = await shownFleet({ machines: 9 });
    await shown.run.sweep(2);
    const { validator = 0 } = held(shown.run, 'm3');
    shown.run.fleet.end('m3', 'validator', validator + 1);
    await shown.advanceTo(validator + STALE);
    expect(shown.familiesOf('m3')).toContain('machine_validators');
    await shown.advanceTo(validator + STALE + SECOND);
    expect(shown.familiesOf('m3')).not.toContain('machine_validators');
    expect(shown.familiesOf('m3')).toEqual(expect.arrayContaining(['machine_synced', 'machine_info']));
  });

  it('a whole fleet is withdrawn within a second of each of its machines', async () => {
    const shown = await shownFleet({ machines: 30 });
    await shown.run.sweep(2);
    shown.run.sim.sandbox.outage = true;
    const ends = shown.run.fleet.names.map((name) => [name, held(shown.run, name).node ?? 0] as const);
    for (const [name, end] of ends.toSorted(([, a], [, b]) => a - b)) {
      await shown.advanceTo(end + STALE + SECOND);
      expect(shown.familiesOf(name)).toEqual(LAST_SEEN);
    }
  });

  it('an expected machine that was never seen is 0, and counts; an excluded one leaves nothing', async () => {
    const shown = await shownFleet({ machines: 9, options: { expected: ['missing'], exclude: ['m3'] } });
    const lastSeen = 'machine_last_seen_timestamp_seconds{chain="mainnet",machine="missing",process="system"}';
    expect(shown.sample(lastSeen)).toMatch(/ 0$/);
    await shown.run.sweep(3);
    await shown.rendered();
    expect(shown.sample('machines{')).toBe('beaconchain_machines{chain="mainnet"} 9');
    expect(shown.sample(lastSeen)).toMatch(/ 0$/);
    expect(shown.familiesOf('m3')).toEqual([]);
    expect(shown.run.fleet.requests.filter(({ body }) => body.machines?.includes('m3'))).toEqual([]);
  });

  it('machines beyond max are dropped and counted, and those that are kept stay the same', async () => {
    const shown = await shownFleet({ machines: 95, options: { max: 50 } });
    const [first, ...others] = await shown.run.sweep(20);
    const kept = [...(first?.machines.keys() ?? [])];
    expect(kept).toHaveLength(50);
    for (const { machines } of others) expect([...machines.keys()]).toEqual(kept);
    await shown.rendered();
    expect(shown.sample('machines_dropped')).toBe('beaconchain_machines_dropped 45');
    expect(shown.sample('machines{')).toMatch(/ 50$/);
    expect(shown.run.warnings).toEqual(['too_many_machines']);
  });
});
