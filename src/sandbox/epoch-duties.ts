import { EPOCHS_PER_SYNC_COMMITTEE_PERIOD, periodOf, SLOTS_PER_EPOCH } from '../facts/chain.ts';
import { between, hash32, mix } from '../toolkit/lib/random.ts';
import { paidFor } from './blocks.ts';
import { isMissed, proposerOf, SEATS, slashedAt } from './chain-world.ts';
import { membersOf } from './sync-committee.ts';
import { isActive, isSilent } from './validator.ts';
import type { Validator, ValidatorsWorld } from './validators-world.ts';

/** What validators did in any number of epochs: counts, and wei. */
export interface Duties {
  readonly assigned: number;
  readonly included: number;
  /** Slots by which attestations were late, summed, and how many of these slots had a block. */
  readonly delay: number;
  readonly delayWithBlock: number;
  readonly correct: Votes;
  /** The votes that were also included in time, so that they earn something. */
  readonly valuable: Votes;
  /** Of a sync committee: one seat for one block. */
  readonly seats: number;
  readonly filled: number;
  readonly proposals: number;
  readonly proposed: number;
  /** Slashings that were included in blocks, and the validators that they slashed. */
  readonly slashings: number;
  readonly slashed: number;
  /** For the blocks on the execution layer. */
  readonly paid: bigint;
}

export const VOTES = ['head', 'source', 'target'] as const;
export type Votes = Readonly<Record<(typeof VOTES)[number], number>>;

/** The shares of attestations with this correct vote, and of those that come a slot late. */
const CORRECT: Votes = { head: 0.985, source: 0.999, target: 0.997 };
const LATE = 0.012;
/** The share that comes late because the slot before had no block. */
const LATE_WITHOUT_BLOCK = 0.004;

interface Epochs {
  readonly start: number;
  readonly end: number;
}

/** The duties of each validator, summed over these epochs, both inclusive. */
export function dutiesOver(world: ValidatorsWorld, validators: readonly Validator[], { start, end }: Epochs): Duties[] {
  const periods = new Map<number, Seats>();
  const epochs = Array.from({ length: end - start + 1 }, (_, i) => {
    const period = periodOf(start + i);
    const seats = periods.get(period) ?? seatsIn(world, period);
    periods.set(period, seats);
    return dutiesIn(world, validators, start + i, seats);
  });
  return validators.map((_, i) => summed(epochs.flatMap((duties) => duties[i] ?? [])));
}

/** How many seats each member of a sync committee holds. */
type Seats = ReadonlyMap<number, number>;

function seatsIn(world: ValidatorsWorld, period: number): Seats {
  const seats = new Map<number, number>();
  for (const member of membersOf(world, period)) seats.set(member, (seats.get(member) ?? 0) + 1);
  return seats;
}

export function dutiesIn(
  world: ValidatorsWorld,
  validators: readonly Validator[],
  epoch: number,
  seats: Seats = seatsIn(world, periodOf(epoch)),
): Duties[] {
  const slots = slotsIn(epoch);
  const byProposer = Map.groupBy(slots, (slot) => proposerOf(world, slot));
  return validators.map((validator) => {
    const { index } = validator;
    if (index === null) return NONE;
    const isThere = !isSilent(world, validator, epoch);
    const own = byProposer.get(index);
    // Members are drawn from those that are active a period before, and keep their seats after an exit.
    const drawnIn = (periodOf(epoch) - 1) * EPOCHS_PER_SYNC_COMMITTEE_PERIOD;
    const held = isActive(validator, Math.max(0, drawnIn)) ? (seats.get(index) ?? 0) : 0;
    const assigned = held === 0 ? 0 : held * slots.filter((slot) => !isMissed(world, slot)).length;
    const member = { seats: assigned, filled: isThere ? assigned : 0 };
    if (!isActive(validator, epoch)) return { ...NONE, ...member };
    return {
      ...attestationIn(world, index, epoch, isThere),
      ...member,
      ...(own ? proposalsAt(world, own) : NO_PROPOSALS),
    };
  });
}

function slotsIn(epoch: number): number[] {
  return Array.from({ length: SLOTS_PER_EPOCH }, (_, i) => epoch * SLOTS_PER_EPOCH + i);
}

function attestationIn({ seed }: ValidatorsWorld, index: number, epoch: number, isThere: boolean) {
  const included = isThere ? 1 : 0;
  const drawn = hash32(seed, index, epoch);
  const happens = (share: number, salt: number): number => (mix(drawn + salt) < share * 2 ** 32 ? included : 0);
  const delay = happens(LATE, 1);
  const correct = {
    head: delay === 1 ? 0 : happens(CORRECT.head, 2),
    source: happens(CORRECT.source, 3),
    target: happens(CORRECT.target, 4),
  };
  // The same number is drawn for both, so these are some of the late ones.
  const delayWithBlock = delay - happens(LATE_WITHOUT_BLOCK, 1);
  return { assigned: 1, included, delay, delayWithBlock, correct, valuable: correct };
}

function proposalsAt(world: ValidatorsWorld, slots: readonly number[]) {
  const blocks = slots.filter((slot) => !isMissed(world, slot));
  const slashed = blocks.map((slot) => slashedAt(world, slot));
  return {
    proposals: slots.length,
    proposed: blocks.length,
    slashings: sumOf(slashed.map(({ slashings }) => slashings)),
    slashed: sumOf(slashed.map(({ validators }) => validators)),
    paid: blocks.reduce((sum, slot) => sum + paidFor(world, slot), 0n),
  };
}

const NO_PROPOSALS: ReturnType<typeof proposalsAt> = { proposals: 0, proposed: 0, slashings: 0, slashed: 0, paid: 0n };

/** About as many as on mainnet. */
const ATTESTERS = 960_000;
const FILLED = 0.9954;

/** The duties of all validators of the chain in an epoch. The shares are those of single validators. */
export function networkDutiesIn(world: ValidatorsWorld, epoch: number): Duties {
  const blocks = proposalsAt(world, slotsIn(epoch));
  const included = ATTESTERS - between(900, 1_800, world.seed, epoch, 34);
  const shareOf = (share: number): number => Math.floor(included * share);
  const correct = { head: shareOf(CORRECT.head), source: shareOf(CORRECT.source), target: shareOf(CORRECT.target) };
  const delay = shareOf(LATE);
  const seats = blocks.proposed * SEATS;
  return {
    ...{ assigned: ATTESTERS, included, delay, delayWithBlock: delay - shareOf(LATE_WITHOUT_BLOCK) },
    ...{ correct, valuable: correct, seats, filled: Math.floor(seats * FILLED) },
    ...blocks,
  };
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0);
}

export function summed(all: readonly Duties[]): Duties {
  const sum = (of: (one: Duties) => number): number => all.reduce((total, one) => total + of(one), 0);
  const votes = (which: 'correct' | 'valuable'): Votes => ({
    head: sum((one) => one[which].head),
    source: sum((one) => one[which].source),
    target: sum((one) => one[which].target),
  });
  return {
    assigned: sum((one) => one.assigned),
    included: sum((one) => one.included),
    delay: sum((one) => one.delay),
    delayWithBlock: sum((one) => one.delayWithBlock),
    correct: votes('correct'),
    valuable: votes('valuable'),
    seats: sum((one) => one.seats),
    filled: sum((one) => one.filled),
    proposals: sum((one) => one.proposals),
    proposed: sum((one) => one.proposed),
    slashings: sum((one) => one.slashings),
    slashed: sum((one) => one.slashed),
    paid: all.reduce((total, { paid }) => total + paid, 0n),
  };
}

const NONE = summed([]);
