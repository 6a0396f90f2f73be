import type { Chain } from '../../lib/chain.ts';
import type { Milliseconds, UnixMs } from '../../lib/time.ts';

export interface SyncCommitteeOptions {
  readonly chain: Chain;
  readonly intervalMs: Milliseconds;
  /** Absent: members are not requested. They are not in the specification. */
  readonly members?: MembersOptions | undefined;
}

export interface MembersOptions {
  readonly isWatched: (validator: number) => boolean;
  /** When the operator last started or reloaded the program. */
  readonly operatorAt: UnixMs;
  /** Called when the service refuses to list the members. */
  readonly onRefused: (failure: Error) => void;
}
