import type { Chain } from '../../lib/chain.ts';
import type { Milliseconds, UnixMs } from '../../lib/time.ts';
import type { Watch } from '../../lib/watch.ts';
import type { Proposal, RecentSlashing } from './schema.ts';

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
  /** Called with every slashing when it is counted, and with every proposer slashing whose validator is known. */
  readonly onSlashing: (slashing: ObservedSlashing) => void;
  /** Called with every missed or orphaned proposal of a watched validator when it is counted. */
  readonly onMissedProposal: (proposal: Proposal) => void;
  /** Called when proposer slashings are counted without their validators, although names are requested. */
  readonly onUnnamed: (failure: Error) => void;
  /** Called when seats are not counted, because the members of the period are not known. */
  readonly onNoCommittee: (period: number) => void;
  /** Called with the number of finalized epochs that were skipped, unless the budget is the reason. */
  readonly onSkipped: (epochs: number) => void;
  /** Called when the first of two blocks of a slot was taken for the canonical one, because no later block is known. */
  readonly onTied: (epoch: number) => void;
  /** Called when finality went back, because the service has named a lower epoch for an hour. */
  readonly onFinalityBack: (from: number, to: number) => void;
}

/** A slashing that has just been counted. */
export interface ObservedSlashing {
  readonly slot: number;
  readonly kind: RecentSlashing['kind'];
  /** All validators of the slashing, ascending. */
  readonly validators: readonly number[];
}
