import type { Chain } from '../facts/chain.ts';
import { MS_PER_MINUTE } from '../toolkit/lib/duration.ts';
import { seedOf } from '../toolkit/lib/random.ts';
import type { Milliseconds, UnixMs } from '../toolkit/lib/time.ts';
import { type Account, type AccountOptions, createAccount } from './account.ts';
import { chainWorld } from './chain-world.ts';
import { createFleet, type Fleet } from './machines.ts';
import { QUEUES, type ValidatorsWorld } from './validators-world.ts';

/** When the daily returns of a day are published. */
interface Publication {
  /** From the end of the day: finality and computation take time (api-facts 3.4). */
  readonly delayMs: Milliseconds;
  /** The share of the delay by which a day comes earlier or later. */
  readonly spread: number;
  /** Until then responses leave out the newest day. */
  olderUntil: UnixMs;
}

const PUBLICATION: Readonly<Publication> = { delayMs: 40 * MS_PER_MINUTE, spread: 0, olderUntil: -Infinity };

export interface SandboxOptions extends AccountOptions {
  readonly seed?: string;
  readonly publication?: Partial<Publication>;
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
  readonly fleet: Fleet;
  readonly chains: Readonly<Record<Chain, ValidatorsWorld>>;
  readonly account: Account;
  readonly publication: Publication;

  constructor(options: SandboxOptions = {}) {
    const { seed = 'sandbox', slotsPerSlashing = 300, watched } = options;
    this.seed = seedOf(seed);
    this.account = createAccount(options);
    this.publication = { ...PUBLICATION, ...options.publication };
    const { machines } = options;
    this.fleet = typeof machines === 'object' ? machines : createFleet(seed, machines);
    const worldOf = (chain: Chain): ValidatorsWorld => {
      const proposers = { validators: watched?.validators[chain] ?? [], slots: watched?.slots ?? 1 };
      const slots = chainWorld(chain, { seed: seedOf(`${seed} ${chain}`), slotsPerSlashing, proposers });
      return {
        ...slots,
        validators: [],
        silences: [],
        changes: [],
        redirected: new Set(),
        payloads: [],
        queues: QUEUES,
      };
    };
    this.chains = { mainnet: worldOf('mainnet'), hoodi: worldOf('hoodi') };
  }
}
