import type { WatchedGroup } from '../../facts/groups.ts';
import type { Watch } from '../../facts/watch.ts';
import type { ChainOptions, PollContext as SourceContext } from '../source.ts';

export interface ValidatorsOptions extends ChainOptions {
  /** Not empty. */
  readonly watch: Watch;
  /** Each of them once. */
  readonly groups: readonly WatchedGroup[];
  /** Whether to read status, balances and duties. */
  readonly status: boolean;
  /** Whether to read rewards as well. They come with the status, so it requires that. */
  readonly rewards: boolean;
  readonly syncCommittee: boolean;
  /** Whether the source slashings is on, which counts the watched validators and the slashed ones among them. */
  readonly hasSlashings: boolean;
}

export type PollContext = SourceContext<ValidatorsOptions>;
