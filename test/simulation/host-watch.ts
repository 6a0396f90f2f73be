import { Ledger } from '../../src/budget/ledger.ts';
import { LEASE_TIMINGS } from '../../src/replica/lease.ts';
import type { DiskRarity } from './disk-faults.ts';
import type { ExporterHost } from './exporter-host.ts';
import { STATE_DIR } from './exporter-setting.ts';
import type { RareState } from './sometimes.ts';

const DRAFT = /\.json\.tmp-/;

/** Notices the rare states of one host: of its disk, and of its process. */
export class HostWatch {
  readonly #host: ExporterHost;
  readonly #reach: (state: RareState) => void;
  /** The write that is under way took a part. */
  #takesPart = false;
  /** The write before it took a part. */
  #isPartWritten = false;
  #sentAt = Number.NEGATIVE_INFINITY;
  #open = 0;

  constructor(host: ExporterHost, reach: (state: RareState) => void) {
    this.#host = host;
    this.#reach = reach;
    host.disk.onRare = (what) => this.#onDisk(what);
    host.versions.onMadeGood = () => reach('a failed write made good');
  }

  /** A call of the process has had its effect, or has failed with this code. */
  onCall(call: string, code: string | undefined): void {
    if (call === 'disk sync' && code === 'EIO') this.#reach('a sync that failed');
    if (call === 'disk rename' && code !== undefined) this.#reach('a rename that failed');
    if (call !== 'disk write') return;
    if (this.#isPartWritten && code === 'ENOSPC') this.#reach('a disk full in the middle of a document');
    this.#isPartWritten = this.#takesPart;
    this.#takesPart = false;
  }

  /** A request leaves. Returns what is to be called when it is over. */
  onRequest(now: number): () => void {
    this.#sentAt = now;
    this.#open += 1;
    return () => {
      this.#open -= 1;
    };
  }

  /** A process is about to start. */
  onLaunch(now: number, ownNow: number, catchUpMs: number, leaseOf: string): void {
    this.#open = 0;
    const files = [...this.#host.disk.filesIn(STATE_DIR).keys()];
    if (files.some((name) => DRAFT.test(name))) this.#reach('a draft left behind');
    if (now - this.#sentAt < 1_000) this.#reach('a restart within a second of a request');
    if (leaseOf.startsWith(`${this.#host.name}-`)) this.#reach('a leader back before its lease ended');
    const { isClosed, isRevoked } = this.account(ownNow);
    if (isClosed) this.#reach('a restart while closed');
    if (isRevoked) this.#reach('a restart while revoked');
    if (now - this.#host.downSince > catchUpMs) this.#reach('a stop for longer than catch_up');
  }

  onStop(): void {
    if (this.#open > 0) this.#reach('stopped in the middle of a poll');
  }

  /** The process has just died. */
  onDeath(isStarting: boolean, countedAt: number): void {
    if (isStarting) this.#reach('killed during a start');
    if (this.#host.versions.latest('ledger') !== undefined && countedAt > this.#host.versions.writtenAt('ledger'))
      this.#reach('killed between request counted and ledger written');
    const unsynced = this.#host.disk.unsyncedIn(STATE_DIR);
    if (unsynced.renames > 0) this.#reach('killed between rename and sync of the directory');
    for (const [name, bytes] of this.#host.disk.filesIn(STATE_DIR)) {
      if (!DRAFT.test(name) || bytes.length === 0) continue;
      if (!isWhole(bytes)) this.#reach('killed in the middle of a write');
      else if (unsynced.isDurable(name)) this.#reach('killed between write and rename');
    }
  }

  /** The clock of the host is set from one time to another. */
  onClock(before: number, after: number): void {
    const { isClosed, closedAt, closedUntil } = this.account(before);
    if (isClosed && after < closedAt) this.#reach('clock stepped back across a wait');
    if (isClosed && after > closedUntil) this.#reach('clock stepped forward across a wait');
    const [from, to] = [new Date(before), new Date(after)];
    if (this.#host.process && from.getUTCMonth() !== to.getUTCMonth()) this.#reach('clock stepped into another month');
  }

  onPause(ms: number, leaseOf: string): void {
    const isLeader = leaseOf === `${this.#host.name}-${this.#host.process?.number}`;
    if (isLeader && ms > LEASE_TIMINGS.ttlMs) this.#reach('a leader paused for longer than its lease');
  }

  /** What the process knew of the account when it last wrote. */
  account(now: number): { isClosed: boolean; isRevoked: boolean; closedAt: number; closedUntil: number } {
    const ledger = Ledger.safeParse(this.#host.versions.latest('ledger')).data;
    const buckets = Object.values(ledger?.buckets ?? {});
    const closed = buckets.find(({ closedUntil }) => closedUntil > now);
    const isRevoked = ledger?.key.standing === 'revoked';
    return {
      isClosed: closed !== undefined,
      isRevoked,
      closedAt: closed?.closedAt ?? Number.NEGATIVE_INFINITY,
      closedUntil: closed?.closedUntil ?? Number.POSITIVE_INFINITY,
    };
  }

  #onDisk(what: DiskRarity): void {
    if (what === 'a write took a part') this.#onPart();
    if (/^a loss of power (lost a write|left zeros|kept a part)/.test(what))
      this.#reach('power lost with unsynced bytes');
    if (what === 'a loss of power undid a rename') this.#reach('power lost with an unsynced rename');
    if (what === 'a loss of power kept the later one of two renames') this.#reach('power lost between two renames');
  }

  #onPart(): void {
    this.#takesPart = true;
    this.#reach('a short write');
  }
}

function isWhole(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString());
    return true;
  } catch {
    return false;
  }
}
