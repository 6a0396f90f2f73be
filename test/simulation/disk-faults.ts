/** A call of a program to its disk. */
export type DiskCall =
  | 'create'
  | 'open'
  | 'write'
  | 'sync'
  | 'sync directory'
  | 'close'
  | 'read file'
  | 'rename'
  | 'rm'
  | 'mkdir'
  | 'readdir'
  | 'stat';

/** Calls that fail, and have no effect. */
export interface DiskFailure {
  readonly code: string;
  readonly calls: readonly DiskCall[];
  /** One in so many of these calls fails; absent: all of them. */
  readonly each?: number;
}

const CHANGES_BY_PATH: readonly DiskCall[] = ['create', 'rename', 'rm', 'mkdir'];

/** A file system that the kernel has made read-only, as it does after an error. */
export const READ_ONLY: DiskFailure = { code: 'EROFS', calls: [...CHANGES_BY_PATH, 'write'] };

/** What can happen to a disk and seldom does. */
export type DiskRarity =
  | 'a call failed'
  | 'a write took a part'
  | 'the disk was full'
  | 'a sync failed'
  | 'a sync did nothing'
  | 'a loss of power lost a write'
  | 'a loss of power left zeros for a write'
  | 'a loss of power kept a part of a write'
  | 'a loss of power undid a change of a directory'
  | 'a loss of power undid a rename'
  | 'a loss of power kept the later one of two renames';

export class DiskError extends Error {
  readonly code: string;

  constructor(code: string, call: DiskCall, path = '') {
    super(`${code}: simulated, ${call} ${path}`);
    this.code = code;
  }
}

type Phase = 'before the lookup' | 'after the lookup';

/** What is wrong with a disk. The fields may change at any time. */
export class DiskFaults {
  /** Free bytes. A write beyond them takes a part, and the next one fails with ENOSPC. */
  room = Number.POSITIVE_INFINITY;
  /** The largest number of bytes that one write takes. */
  bytesPerWrite = Number.POSITIVE_INFINITY;
  readonly failing = new Set<DiskFailure>();
  /** A sync succeeds and has no effect. After a loss of power anything may be lost, also what was "synced". */
  liesAboutSync = false;
  /** Since the last loss of power, a sync had no effect. */
  hasLied = false;
  /** Told of every rare thing that happens. */
  onRare: (what: DiskRarity) => void = () => undefined;
  readonly #counts = new Map<DiskFailure, number>();

  get isFaulty(): boolean {
    const isFull = Number.isFinite(this.room) || Number.isFinite(this.bytesPerWrite);
    return isFull || this.failing.size > 0 || this.liesAboutSync;
  }

  /** The disk works again. */
  calm(): void {
    this.room = Number.POSITIVE_INFINITY;
    this.bytesPerWrite = Number.POSITIVE_INFINITY;
    this.failing.clear();
    this.liesAboutSync = false;
  }

  /**
   * Fails the call if a failure is set for it. Linux looks up the path before it refuses a change of a read-only file
   * system, hence the two phases.
   */
  check(call: DiskCall, phase: Phase, path?: string): void {
    if (this.failing.size === 0) return;
    for (const failure of this.failing) {
      const isLate = failure.code === 'EROFS' && CHANGES_BY_PATH.includes(call);
      if (!failure.calls.includes(call) || isLate !== (phase === 'after the lookup')) continue;
      const count = (this.#counts.get(failure) ?? 0) + 1;
      this.#counts.set(failure, count);
      if (count % (failure.each ?? 1) !== 0) continue;
      this.onRare(call === 'sync' || call === 'sync directory' ? 'a sync failed' : 'a call failed');
      throw new DiskError(failure.code, call, path);
    }
  }

  /** How many bytes a write takes. @throws DiskError */
  taken(wanted: number): number {
    const taken = Math.min(wanted, this.bytesPerWrite, Math.max(0, this.room));
    if (taken < wanted) this.onRare(taken === 0 ? 'the disk was full' : 'a write took a part');
    if (taken === 0 && wanted > 0) throw new DiskError('ENOSPC', 'write');
    return taken;
  }
}
