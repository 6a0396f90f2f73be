import type { Chain } from '../../../src/facts/chain.ts';
import { HOUR, MINUTE, SECOND } from '../../support/time/timing.ts';
import type { Random } from '../random.ts';
import type { ChainView } from '../service/chain-view.ts';
import type { Setting } from '../story.ts';
import type { World } from '../world.ts';
import { kind, later } from './kind.ts';

const SLOT = 12 * SECOND;

/** One of the chains that are read. */
function anyChain(random: Random, { exporter }: Setting): Chain {
  return exporter.chains[random.between(0, exporter.chains.length - 1)] ?? 'mainnet';
}

function viewOf(world: World, chain: Chain): ChainView {
  return world.service.chain(chain, world.clock.now());
}

/** What happens to the chains, and how the service shows it. */
export const CHAIN_KINDS = [
  kind<{ chain: Chain; count: number }>({
    name: 'slashings',
    weight: 4,
    draw: (random, setting) => ({ chain: anyChain(random, setting), count: random.pick([1, 1, 2, 4]) }),
    apply: ({ chain, count }, world) => viewOf(world, chain).chain.orderSlashings(count),
  }),
  kind<{ chain: Chain; slots: number }>({
    name: 'orphaned slashing',
    weight: 3,
    draw: (random, setting) => ({ chain: anyChain(random, setting), slots: random.pick([0, random.between(1, 14)]) }),
    apply: ({ chain, slots }, world) => viewOf(world, chain).chain.orderOrphanedSlashing(slots),
  }),
  kind<{ chain: Chain; slots: number }>({
    name: 'slashing in two blocks',
    weight: 3,
    draw: (random, setting) => ({ chain: anyChain(random, setting), slots: random.between(1, 40) }),
    apply: ({ chain, slots }, world) => {
      viewOf(world, chain).chain.orderSlashings(1);
      later(world, (slots + 1) * SLOT, () => viewOf(world, chain).chain.orderReorganisation(slots + 3));
    },
  }),
  kind<{ chains: readonly Chain[]; depth: number }>({
    name: 'reorganisation',
    weight: 4,
    draw: (random, setting) => ({
      chains: random.happens(0.5) ? setting.exporter.chains : [anyChain(random, setting)],
      depth: random.scale(1, 80),
    }),
    apply: ({ chains, depth }, world) => {
      for (const chain of chains) viewOf(world, chain).chain.orderReorganisation(depth);
    },
  }),
  kind<{ chain: Chain; epochs: number }>({
    name: 'finality stalls',
    weight: 5,
    draw: (random, setting) => ({
      chain: anyChain(random, setting),
      epochs: random.pick([random.scale(1, 40), random.between(14, 40)]),
    }),
    apply: ({ chain, epochs }, world) => viewOf(world, chain).chain.stall(epochs),
  }),
  kind<{ chain: Chain; epochs: number; times: number; ms: number }>({
    name: 'latest goes back',
    weight: 3,
    draw: (random, setting) => ({
      chain: anyChain(random, setting),
      epochs: random.pick([1, 2, random.between(3, 12)]),
      times: random.pick([1, 2, random.between(3, 20)]),
      ms: random.scale(MINUTE, 2 * HOUR),
    }),
    apply: ({ chain, epochs, times, ms }, world) => viewOf(world, chain).lag(epochs, times, world.clock.now() + ms),
  }),
  kind<{ chain: Chain; ms: number }>({
    name: 'block shown as scheduled',
    weight: 5,
    draw: (random, setting) => ({
      chain: anyChain(random, setting),
      // Mostly until its epoch is final, which takes a quarter of an hour. After an hour the slot counts as missed.
      ms: random.pick([random.scale(MINUTE, HOUR), random.between(15, 59) * MINUTE]),
    }),
    apply: ({ chain, ms }, world) => viewOf(world, chain).hideBlock(world.clock.now() + ms),
  }),
  kind<{ chain: Chain; ms: number }>({
    name: 'details late',
    weight: 5,
    // No epoch becomes final so soon after its blocks.
    draw: (random, setting) => ({ chain: anyChain(random, setting), ms: random.between(60, 360) * SECOND }),
    apply: ({ chain, ms }, world) => {
      const view = viewOf(world, chain);
      view.chain.orderSlashings(1);
      view.hideDetails(world.clock.now() + ms);
    },
  }),
];
