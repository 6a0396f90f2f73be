import type { Chain } from '../../../src/facts/chain.ts';
import { MINUTE, SECOND } from '../../support/time/timing.ts';
import type { ExporterSetting } from '../exporter-setting.ts';
import type { Random } from '../random.ts';
import type { World } from '../world.ts';
import { kind, later } from './kind.ts';

/** Settings that a reload can change. */
type Changes = Partial<Omit<ExporterSetting, 'refreshMs' | 'key'>>;

function aChange(random: Random): Changes {
  return random.pick<() => Changes>([
    () => ({
      intervals: {
        machines: random.pick([60, random.scale(30, 1_800)]),
        slashings: random.pick([65, random.scale(30, 1_800)]),
        daily: random.pick([3_600, random.scale(600, 7_200)]),
      },
    }),
    () => ({ chains: random.pick<readonly Chain[]>([['mainnet'], ['hoodi'], ['mainnet', 'hoodi']]) }),
    () => ({ watch: random.some([7, 12, 50, 99]) }),
    () => ({ utilization: random.pick([0.9, 0.3 + 0.6 * random.unit()]) }),
    () => ({ timeoutSeconds: random.pick([3, 10, 30]) }),
    () => ({ expected: random.some(['m0', 'never-seen', 'm3']) }),
  ])();
}

/** Reloads after these times, ms. */
function reload(world: World, times: readonly number[]): void {
  for (const ms of times) {
    if (ms === 0) world.reload();
    else later(world, ms, () => world.reload());
  }
}

/** What the operator does to the configuration. */
export const OPERATOR_KINDS = [
  kind<{ changes: Changes; reloads: readonly number[] }>({
    name: 'configuration',
    weight: 4,
    draw: (random) => ({
      changes: aChange(random),
      reloads: random.pick([[0], [0], [0, 0], [0, 1, 40], [random.scale(SECOND, 10 * MINUTE)], []]),
    }),
    apply: ({ changes, reloads }, world) => {
      world.configure(changes);
      reload(world, reloads);
    },
  }),
  kind<{ times: number; everyMs: number }>({
    name: 'reloads',
    weight: 2,
    draw: (random) => ({
      times: random.pick([1, random.between(2, 8)]),
      everyMs: random.pick([0, random.scale(1, 2_000)]),
    }),
    apply: ({ times, everyMs }, world) =>
      reload(
        world,
        Array.from({ length: times }, (_, i) => i * everyMs),
      ),
  }),
  kind<{ forMs: number; isReloaded: boolean }>({
    name: 'broken file',
    weight: 1,
    draw: (random) => ({ forMs: random.scale(SECOND, 30 * MINUTE), isReloaded: random.happens(0.8) }),
    apply: ({ forMs, isReloaded }, world) => {
      world.isFileBroken = true;
      if (isReloaded) world.reload();
      later(world, forMs, () => {
        world.isFileBroken = false;
        if (isReloaded) world.reload();
      });
    },
  }),
];
