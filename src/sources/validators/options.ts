import type { Chain } from '../../facts/chain.ts';
import type { Watch } from '../../facts/watch.ts';
import type { Milliseconds } from '../../toolkit/lib/time.ts';
import type { PollContext as SourceContext } from '../source.ts';

export interface ValidatorsOptions {
  readonly chain: Chain;
  /** Not empty. */
  readonly watch: Watch;
  readonly intervalMs: Milliseconds;
  readonly weight: number;
  /** Whether to read status, balances and duties. */
  readonly status: boolean;
  /** Whether to read the members of the sync committees. */
  readonly syncCommittee: boolean;
  /** Whether the source slashings is on, which counts the watched validators and the slashed ones among them. */
  readonly hasSlashings: boolean;
}

export type PollContext = SourceContext<ValidatorsOptions>;
