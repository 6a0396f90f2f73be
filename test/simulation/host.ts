import { Documents } from './documents.ts';
import { type Death, ExporterProcess } from './exporter-process.ts';
import type { World } from './world.ts';

/** A supervisor such as systemd starts a process again after this time. */
const RESTART_MS = 5_000;

/** The machine that runs the exporter: its documents, its clock, and one process at a time, which a supervisor restarts. */
export class Host {
  readonly documents: Documents;
  readonly #world: World;
  /** The current process, which may still be starting. */
  process: ExporterProcess | undefined;
  #started = 0;
  /** How far its clock is ahead of true time, ms. */
  clockOffsetMs = 0;
  #isWanted = true;
  #downMs = RESTART_MS;
  #writeTroubleAt = Number.NEGATIVE_INFINITY;
  /** Why the last process ended. */
  lastEnd = '';

  constructor(world: World) {
    this.#world = world;
    this.documents = new Documents(world.random.fork('documents'));
  }

  /** When writes last failed or took long. */
  get writeTroubleAt(): number {
    if (this.documents.isTroubled) this.noteWriteTrouble();
    return this.#writeTroubleAt;
  }

  noteWriteTrouble(): void {
    this.#writeTroubleAt = this.#world.clock.now();
  }

  /** When its process was last paused, or is. */
  get pausedAt(): number {
    return Math.min(this.#world.clock.now(), this.process?.clock.resumesAt ?? Number.NEGATIVE_INFINITY);
  }

  /** Starts a process unless one runs. */
  start(): void {
    this.#isWanted = true;
    if (this.process) return;
    this.#started += 1;
    const process = new ExporterProcess(this.#world, this.#started, (why) => this.#onEnd(process, why));
    this.process = process;
  }

  #onEnd({ number, startedAt, stoppingSince, clock }: ExporterProcess, why: string): void {
    const at = this.#world.clock.now();
    this.process = undefined;
    this.lastEnd = why;
    const pausedUntil = clock.resumesAt;
    this.#world.traffic.note({ kind: 'ended', at, process: number, why, startedAt, stoppingSince, pausedUntil });
    if (this.#isWanted) this.#world.clock.after(this.#downMs, () => this.start());
    this.#downMs = RESTART_MS;
  }

  /** SIGTERM, and a start `downMs` later. */
  restart(downMs: number): void {
    this.#isWanted = false;
    this.process?.stop();
    this.#world.clock.after(downMs, () => this.start());
  }

  /** kill -9, now or after some more calls, and a start `downMs` later. */
  kill(downMs: number, after?: Death): void {
    if (after) {
      this.#downMs = downMs;
      this.process?.dieAfter(after);
      return;
    }
    this.#isWanted = false;
    this.process?.die('kill -9');
    this.#world.clock.after(downMs, () => this.start());
  }

  setClock(offsetMs: number): void {
    const byMs = offsetMs - this.clockOffsetMs;
    this.clockOffsetMs = offsetMs;
    this.process?.clock.setOffset(offsetMs);
    if (byMs !== 0) this.#world.traffic.note({ kind: 'step', at: this.#world.clock.now(), byMs });
  }

  /** Writes and the clock are as they should be, and the process runs. */
  calm(): void {
    this.noteWriteTrouble();
    this.documents.calm();
    this.process?.dieAfter(undefined);
    // A kill that never came may have left a long one.
    this.#downMs = RESTART_MS;
    this.setClock(0);
    this.process?.clock.resume();
    this.start();
  }
}
