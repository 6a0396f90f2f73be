import type { Api } from '../api/client.ts';
import type { Milliseconds, UnixMs } from '../toolkit/lib/time.ts';

/** Whether a restart now is safe. */
export interface Safety {
  readonly isSafe: boolean;
  /** Why, and until when. */
  readonly reason: string;
}

/** Asks the service about one chain. `withinMs`: how long a restart may take. */
export type AskSafety = (api: Api, withinMs: Milliseconds, now: UnixMs, signal: AbortSignal) => Promise<Safety>;
