import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Proxies } from '../lib/proxies.ts';
import type { UnixMs } from '../lib/time.ts';
import type { Sample } from '../metrics/family.ts';
import type { ProcessMetrics } from '../metrics/self.ts';
import type { Totals } from '../metrics/totals.ts';
import type { Replica } from '../replica/replica.ts';
import type { StateStore } from '../state/store.ts';
import type { Outside } from './outside.ts';
import type { LastReload } from './own-families.ts';
import type { ViewOptions } from './picture.ts';
import type { Settings } from './settings.ts';
import type { State } from './state.ts';

export interface EngineOptions extends Settings {
  readonly clock: Clock;
  readonly log: Logger;
  readonly documents: StateStore;
  /** The same as `documents`, if several processes share them. */
  readonly replica?: Replica | undefined;
  /** Default: none. */
  readonly proxies?: Proxies | undefined;
  /** Replaced in simulations. */
  readonly outside?: Outside | undefined;
  readonly processMetrics: ProcessMetrics;
  readonly lastReload: () => LastReload;
  /** Whether the service is simulated, which the status page says. */
  readonly isSimulated?: boolean;
  /** When the process began. */
  readonly startedAt: UnixMs;
  /** When the operator last started or reloaded the program; default: now. */
  readonly operatorAt?: UnixMs;
  /** What the previous engine of this process knew. The rest is read from the documents. */
  readonly before?: State;
}

/** The role of this process: it polls, or follows the replica that polls. */
export interface Role {
  /** All that is known now. */
  state(): State;
  /** How it is shown. */
  readonly viewOptions: ViewOptions;
  /** The exporter's own counters as they may be shown. */
  counted(): Promise<Counted>;
  /** See `SchemaDrift`. */
  drift(): readonly Sample[];
  readonly isLeader: boolean;
  /** Undefined: healthy; else why not. */
  unhealthy(): string | undefined;
  /** Resolves when there is something to show. @throws StateRefused */
  begin(): Promise<void>;
  /** Runs until it is aborted. */
  run?(): Promise<void>;
  /**
   * Continues with new settings, read at `reloadedAt`. Polls in progress end with the old ones, except those of
   * sources that are gone or ask elsewhere. Undefined if nothing is polled. @throws StateRefused: nothing has changed.
   */
  readonly adopt?: ((next: Settings, reloadedAt: UnixMs) => Promise<void>) | undefined;
  /** Writes the state and returns it. */
  close(): Promise<State>;
}

export interface Counted {
  readonly totals: Totals;
  /** Shown immediately, because `totals` do not change while writes fail. */
  readonly stateWriteFailures: number;
  /** See `SchemaDrift`. */
  readonly drift: readonly Sample[];
}

/** The callbacks from a role to its engine. */
export interface RoleLinks {
  /** Ends it. */
  readonly abort: AbortController;
  /** These parts of /metrics have changed. */
  readonly touch: (...parts: readonly string[]) => void;
}
