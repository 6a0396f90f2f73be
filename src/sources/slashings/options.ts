import type { Chain } from '../../lib/chain.ts';
import type { Milliseconds, UnixMs } from '../../lib/time.ts';
import type { Watch } from '../../lib/watch.ts';

export interface SlashingsOptions {
  readonly chain: Chain;
  readonly intervalMs: Milliseconds;
  readonly weight: number;
  readonly catchUpMs: Milliseconds;
  readonly watch: Watch;
  /** Whether to request the names of slashed proposers, which is not in the specification. */
  readonly readsProposerNames: boolean;
  /** The members of a period in the order of the committee, if they are known. Absent: seats are not counted. */
  readonly seatsOf?: ((period: number) => readonly number[] | undefined) | undefined;
  /** Watched validators that their status shows as slashed, each with the first slot of the epoch of that answer. */
  readonly slashedByStatus: () => readonly [validator: number, slot: number][];
  /** When the operator last started or reloaded the program. */
  readonly operatorAt: UnixMs;
}
