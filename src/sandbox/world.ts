import type { Chain } from '../facts/chain.ts';
import { seedOf } from '../toolkit/lib/random.ts';
import { chainWorld } from './chain-world.ts';
import { createFleet, type Fleet } from './machines.ts';
import type { AccountPlan, Usage } from './rate-limit.ts';
import { QUEUES, type ValidatorsWorld } from './validators-world.ts';

export const DEMO_KEY = 'sandbox';

export interface SandboxOptions {
  readonly seed?: string;
  readonly key?: string;
  readonly plan?: AccountPlan;
  /** How many; or the fleet itself. */
  readonly machines?: number | Fleet;
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
  readonly chains: Readonly<Record<Chain, ValidatorsWorld>>;
  readonly account: Usage = { secondOpenedAt: -Infinity, inSecond: 0, monthEndsAt: -Infinity, inMonth: 0 };
  plan: AccountPlan;
  /** The trial expired or the subscription was cancelled. */
  revoked = false;

  constructor(options: SandboxOptions = {}) {
    const { seed = 'sandbox', slotsPerSlashing = 300, watched } = options;
    this.seed = seedOf(seed);
    this.key = options.key ?? DEMO_KEY;
    this.plan = options.plan ?? 'scale';
    const { machines } = options;
    this.fleet = typeof machines === 'object' ? machines : createFleet(seed, machines);
    const worldOf = (chain: Chain): ValidatorsWorld => {
      const proposers = { validators: watched?.validators[chain] ?? [], slots: watched?.slots ?? 1 };
      const slots = chainWorld(chain, { seed: seedOf(`${seed} ${chain}`), slotsPerSlashing, proposers });
      return { ...slots, validators: [], silences: [], payloads: [], queues: QUEUES };
    };
    this.chains = { mainnet: worldOf('mainnet'), hoodi: worldOf('hoodi') };
  }
}
