import type { Chain } from '../../../src/lib/chain.ts';
import { HOUR, MINUTE, SECOND } from '../../support/timing.ts';
import type { Random } from '../random.ts';
import { type ChainView, ROW_FAULTS, type RowFault } from '../service/chain-view.ts';
import type { Setting } from '../story.ts';
import type { World } from '../world.ts';
import { kind, later, span } from './kind.ts';

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
    tell: ({ chain, count }) => `on ${chain} each of the next ${count} blocks has a new slashing`,
  }),
  kind<{ chain: Chain; slots: number }>({
    name: 'orphaned slashing',
    weight: 3,
    draw: (random, setting) => ({ chain: anyChain(random, setting), slots: random.pick([0, random.between(1, 14)]) }),
    apply: ({ chain, slots }, world) => viewOf(world, chain).chain.orderOrphanedSlashing(slots),
    tell: ({ chain, slots }) =>
      `on ${chain} the next block has a slashing, and is orphaned ${slots === 0 ? 'at once' : `${slots} slots later`}`,
  }),
  kind<{ chain: Chain; slots: number }>({
    name: 'slashing in two blocks',
    weight: 3,
    draw: (random, setting) => ({ chain: anyChain(random, setting), slots: random.between(1, 40) }),
    apply: ({ chain, slots }, world) => {
      viewOf(world, chain).chain.orderSlashings(1);
      later(world, (slots + 1) * SLOT, () => viewOf(world, chain).chain.orderReorganisation(slots + 3));
    },
    tell: ({ chain, slots }) =>
      `on ${chain} the next block has a slashing; ${slots} slots later another block has it in its place`,
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
    tell: ({ chains, depth }) => `the newest ${depth} slots of ${chains.join(' and ')} are replaced`,
  }),
  kind<{ chain: Chain; epochs: number }>({
    name: 'finality stalls',
    weight: 5,
    draw: (random, setting) => ({
      chain: anyChain(random, setting),
      epochs: random.pick([random.scale(1, 40), random.between(14, 40)]),
    }),
    apply: ({ chain, epochs }, world) => viewOf(world, chain).chain.stall(epochs),
    tell: ({ chain, epochs }) => `finality of ${chain} stalls for ${epochs} epochs`,
  }),
  kind<{ chain: Chain; how: RowFault; ms: number }>({
    name: 'rows',
    weight: 3,
    draw: (random, setting) => ({
      chain: anyChain(random, setting),
      how: random.pick(ROW_FAULTS),
      ms: random.scale(MINUTE, 2 * HOUR),
    }),
    apply: ({ chain, how, ms }, world) => {
      const view = viewOf(world, chain);
      // There is a second row of a slot only if its block was replaced.
      if (how === 'two proposed') view.chain.orderReorganisation(3);
      view.spoilRows(how, world.clock.now() + ms);
    },
    tell: ({ chain, how, ms }) => `for ${span(ms)} rows of ${chain} are ${how}`,
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
    tell: ({ chain, epochs, times, ms }) =>
      `the latest epoch of ${chain} is ${epochs} behind, ${times} times within ${span(ms)}`,
  }),
  kind<{ chain: Chain; what: 'a missed slot' | 'a block'; ms: number }>({
    name: 'scheduled',
    weight: 5,
    draw: (random, setting) => {
      const chain = anyChain(random, setting);
      // Mostly until its epoch is final, which takes a quarter of an hour. After an hour the slot counts as missed.
      const ms = random.pick([random.scale(MINUTE, HOUR), random.between(15, 59) * MINUTE]);
      return random.pick([
        { chain, what: 'a missed slot', ms: random.scale(MINUTE, 4 * HOUR) },
        { chain, what: 'a block', ms },
      ]);
    },
    apply: ({ chain, what, ms }, world) => {
      const until = world.clock.now() + ms;
      if (what === 'a block') viewOf(world, chain).hideBlock(until);
      else viewOf(world, chain).keepScheduled(until);
    },
    tell: ({ chain, what, ms }) => `${what} of ${chain} is shown as scheduled for ${span(ms)}`,
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
    tell: ({ chain, ms }) => `the next block of ${chain} has a slashing, and no details are listed for ${span(ms)}`,
  }),
];
