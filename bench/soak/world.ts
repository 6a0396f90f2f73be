import type { FaultServer } from '../../test/support/fault-server.ts';
import type { TightDisk } from './tight-disk.ts';
import type { DiskFault } from './weak-disk.ts';

/** What trouble is made with. */
export interface World {
  readonly service: FaultServer;
  readonly disk: TightDisk;
  readonly port: number;
  /** What a client sends that is let in. */
  readonly headers: Record<string, string>;
  weaken(fault: DiskFault | undefined): void;
  configure(settings: SoakSettings): void;
  onFault(what: string): void;
}

/** The part of the configuration that changes in the course of the day. */
export interface SoakSettings {
  /** Milliseconds of the machine's clock, which a large body takes whatever the time is. */
  readonly timeoutMs?: number;
  /** Whether there is a second chain. */
  readonly hoodi?: boolean;
  /** Fields of the section of machines. */
  readonly machines?: string;
  /** Sections besides. */
  readonly more?: string;
  readonly mistake?: boolean;
}

export interface Trouble {
  readonly kind: 'service' | 'disk' | 'reloads' | 'large bodies' | 'clients' | 'several';
  readonly name: string;
  /** Whether every source that is due each minute goes on being asked for. */
  readonly isPolled: boolean;
  /** For how long after it a source may pause, minutes. */
  readonly pauses?: number;
  /** Counters that may be away meanwhile. */
  readonly mayLack?: RegExp;
  /** Goes on until the signal aborts, and leaves nothing behind. */
  make(world: World, signal: AbortSignal): Promise<void>;
}

export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
