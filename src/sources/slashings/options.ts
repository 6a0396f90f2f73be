import type { WatchedGroup } from '../../facts/groups.ts';
import type { Watch } from '../../facts/watch.ts';
import type { Milliseconds } from '../../toolkit/lib/time.ts';
import type { Slashed } from '../slashed.ts';
import type { ChainOptions } from '../source.ts';

export interface SlashingsOptions extends ChainOptions {
  readonly catchUpMs: Milliseconds;
  readonly watch: Watch;
  /** Each watched validator once. */
  readonly groups: readonly WatchedGroup[];
  /** Whether to request the names of slashed proposers, which is not in the specification. */
  readonly readsProposerNames: boolean;
  /** The members of a period in the order of the committee, if they are known. Absent: seats are not counted. */
  readonly seatsOf?: ((period: number) => readonly number[] | undefined) | undefined;
  /** The watched validators that are slashed according to their status. */
  readonly slashedByStatus: () => readonly Slashed[];
}
