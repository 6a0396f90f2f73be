import type { Chain } from '../facts/chain.ts';
import { seedOf } from '../toolkit/lib/random.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { type ChainWorld, headSlot, isMissed, OFFENCES, type Offence, slashedInBlock } from './chain-world.ts';
import { createFleet, type Fleet, machineOf, NAMED_MACHINES } from './machines.ts';
import type { AccountPlan, Usage } from './rate-limit.ts';

export const DEMO_KEY = 'sandbox';

export interface SandboxOptions {
  readonly seed?: string;
  readonly key?: string;
  readonly plan?: AccountPlan;
  readonly machines?: number;
  /** On average one attester slashing in this many slots; Infinity: only ordered ones. */
  readonly slotsPerSlashing?: number;
  /** One of these validators proposes one block in each `slots` slots of its chain, and misses only what is ordered. */
  readonly watched?: { readonly validators: Readonly<Record<Chain, readonly number[]>>; readonly slots: number };
}

/** A simulated account and the chains and machines that it sees. The fields without `readonly` may be set at any time. */
export class Sandbox {
  readonly seed: number;
  readonly key: string;
  readonly fleet: Fleet;
  readonly chains: Readonly<Record<Chain, ChainWorld>>;
  readonly account: Usage = { secondOpenedAt: -Infinity, inSecond: 0, monthEndsAt: -Infinity, inMonth: 0 };
  plan: AccountPlan;
  /** The trial expired or the subscription was cancelled. */
  revoked = false;

  constructor(options: SandboxOptions = {}) {
    const { seed = 'sandbox', slotsPerSlashing = 300, watched } = options;
    this.seed = seedOf(seed);
    this.key = options.key ?? DEMO_KEY;
    this.plan = options.plan ?? 'scale';
    this.fleet = createFleet(seed, options.machines ?? NAMED_MACHINES);
    const chainWorld = (chain: Chain): ChainWorld => ({
      chain,
      seed: seedOf(`${seed} ${chain}`),
      slotsPerSlashing,
      proposers: { validators: watched?.validators[chain] ?? [], slots: watched?.slots ?? 1 },
      slashed: { attester: new Map(), proposer: new Map() },
      missed: new Map(),
      offline: new Map(),
    });
    this.chains = { mainnet: chainWorld('mainnet'), hoodi: chainWorld('hoodi') };
  }

  silence(name: string, now: UnixMs): void {
    machineOf(this.fleet, name).silence = { from: now, until: Number.POSITIVE_INFINITY };
  }

  wake(name: string, now: UnixMs): void {
    const machine = machineOf(this.fleet, name);
    if (machine.silence) machine.silence = { from: machine.silence.from, until: now };
  }

  fillDisk(name: string, now: UnixMs): void {
    machineOf(this.fleet, name).diskFullSince = now;
  }

  /** The next block slashes these validators. Returns its slot. */
  slash(chain: Chain, validators: readonly number[], now: UnixMs, offence: Offence = 'attester'): number {
    const world = this.chains[chain];
    const slot = firstFreeSlot(world, now);
    world.slashed[offence].set(slot, validators);
    return slot;
  }

  /** The validator is to propose one of the next blocks, and misses it. Returns the slot. */
  missProposal(chain: Chain, validator: number, now: UnixMs): number {
    const world = this.chains[chain];
    const slot = firstFreeSlot(world, now);
    world.missed.set(slot, validator);
    return slot;
  }

  takeOffline(chain: Chain, validator: number, now: UnixMs): void {
    this.chains[chain].offline.set(validator, { from: now, until: Number.POSITIVE_INFINITY });
  }

  bringBack(chain: Chain, validator: number, now: UnixMs): void {
    const { offline } = this.chains[chain];
    const span = offline.get(validator);
    if (span) offline.set(validator, { from: span.from, until: now });
  }
}

/** The next slot with a block that slashes nobody and can still be changed: that of the current slot has been sent. */
function firstFreeSlot(world: ChainWorld, now: UnixMs): number {
  const slashes = (slot: number) => OFFENCES.some((offence) => slashedInBlock(world, slot, offence).length > 0);
  let slot = headSlot(world.chain, now) + 2;
  while (isMissed(world, slot) || slashes(slot)) slot += 1;
  return slot;
}
