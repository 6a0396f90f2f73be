import type { Api } from '../api/client.ts';
import { BudgetClosed } from '../budget/pacer.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { type Entry, emptyEntry, sourceId, type Store } from '../snapshot/snapshot.ts';
import type { Poll, Source, Timing } from '../sources/source.ts';
import { afterPoll, nextAttemptAt } from './plan.ts';

export interface SchedulerDependencies {
  readonly api: Api;
  readonly clock: Clock;
  readonly store: Store;
  readonly log: Logger;
  /** The effective interval of a source, and what it covers. */
  readonly timingOf: (source: Source, now: number) => Timing;
  /** Unix ms from which the requests of a source may leave. */
  readonly opensAt: (source: Source) => number;
  /** Told when what is shown of a source changed. */
  readonly onChange: (source: Source) => void;
}

/** What the rest of the program sees of one source. */
export interface SourceView {
  readonly source: Source;
  readonly entry: Entry;
  readonly timing: Timing;
  /** Unix ms at which the next attempt is due and permitted; Infinity: not without the operator. */
  readonly nextAttemptAt: number;
  /** What the effective interval asks for. */
  readonly requestsPerDay: number;
}

interface Slot {
  readonly source: Source;
  /** What was persisted last. */
  shown: Entry;
  /** What is known; ahead of `shown` while it cannot be persisted. */
  known: Entry;
  running: boolean;
}

/** The heartbeat: also without anything due, so that a step of the clock is noticed. */
const LONGEST_NAP_MS = 15_000;
const SAVE_RETRY_MS = 15_000;

/** Runs each source when it is due, one poll of each at a time; times and counts every run. */
export class Scheduler {
  readonly #slots: readonly Slot[];
  readonly #deps: SchedulerDependencies;
  readonly #running = new Set<Promise<void>>();
  #heartbeatAt: number;
  #saveFailures = 0;
  #wake: () => void = () => undefined;

  constructor(sources: readonly Source[], entries: ReadonlyMap<string, Entry>, deps: SchedulerDependencies) {
    this.#deps = deps;
    this.#heartbeatAt = deps.clock.monotonic();
    this.#slots = sources.map((source) => {
      const entry = entries.get(sourceId(source)) ?? emptyEntry(source);
      return { source, shown: entry, known: entry, running: false };
    });
  }

  /** Monotonic ms of the last time the loop was alive. */
  get heartbeatAt(): number {
    return this.#heartbeatAt;
  }

  get saveFailures(): number {
    return this.#saveFailures;
  }

  /** What is shown of each source, in their order. */
  views(): SourceView[] {
    const now = this.#deps.clock.now();
    return this.#slots.map(({ source, shown, known }) => {
      const timing = this.#deps.timingOf(source, now);
      return {
        source,
        entry: shown,
        timing,
        nextAttemptAt: this.#nextAttemptAt(source, known, now),
        requestsPerDay: source.requestsPerDay(timing.intervalMs, 1),
      };
    });
  }

  /** Resolves when the signal has aborted and every poll in progress has ended. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#wake(), { once: true });
    while (!signal.aborted) {
      this.#heartbeatAt = this.#deps.clock.monotonic();
      const next = this.#startDue(signal);
      await this.#nap(Math.min(LONGEST_NAP_MS, next - this.#deps.clock.now()));
    }
    await Promise.all(this.#running);
  }

  /** Looks again at what is due: something that decides it has changed. */
  wake(): void {
    this.#wake();
  }

  /** Starts what is due and returns when the next source will be. */
  #startDue(signal: AbortSignal): number {
    const now = this.#deps.clock.now();
    let next = Number.POSITIVE_INFINITY;
    for (const slot of this.#slots) {
      if (slot.running) continue;
      const at = this.#nextAttemptAt(slot.source, slot.known, now);
      if (at > now) next = Math.min(next, at);
      else this.#start(slot, signal);
    }
    return next;
  }

  #start(slot: Slot, signal: AbortSignal): void {
    slot.running = true;
    const run = this.#poll(slot, signal).finally(() => {
      slot.running = false;
      this.#running.delete(run);
      this.#wake();
    });
    this.#running.add(run);
  }

  async #poll(slot: Slot, signal: AbortSignal): Promise<void> {
    const { clock, api, log, timingOf } = this.#deps;
    const { source } = slot;
    const now = clock.now();
    const start = clock.monotonic();
    let poll: Poll<unknown>;
    try {
      poll = await source.poll(api, slot.known.value, timingOf(source, now), signal);
    } catch (error) {
      if (signal.aborted) return;
      poll = { value: slot.known.value, failure: error instanceof Error ? error : new Error(String(error)) };
    }
    slot.known = afterPoll(slot.known, poll, now, clock.monotonic() - start);
    const { name, chain } = source;
    if (poll.failure) log[levelOf(poll.failure)]({ source: name, chain, err: poll.failure.message }, 'poll failed');
    else log.debug({ source: name, chain, duration_ms: slot.known.durationMs }, 'polled');
    await this.#persist(slot, signal);
  }

  /** Nothing is shown before it is persisted: after a restart a counter would step back. */
  async #persist(slot: Slot, signal: AbortSignal): Promise<void> {
    const { store, log, onChange, clock } = this.#deps;
    const entry = slot.known;
    try {
      await store.save(sourceId(slot.source), entry);
    } catch (error) {
      this.#saveFailures += 1;
      log.error({ source: slot.source.name, chain: slot.source.chain, err: String(error) }, 'state not written');
      // The next poll saves too; this is for sources that poll once a day.
      const retry = clock.sleep(SAVE_RETRY_MS, signal).then(async () => {
        if (slot.known === entry && !slot.running) await this.#persist(slot, signal);
      });
      retry.catch(() => undefined);
      return;
    }
    slot.shown = entry;
    onChange(slot.source);
  }

  #nextAttemptAt(source: Source, entry: Entry, now: number): number {
    return nextAttemptAt(source, entry, this.#deps.timingOf(source, now), this.#deps.opensAt(source));
  }

  async #nap(ms: number): Promise<void> {
    const alarm = new AbortController();
    this.#wake = () => alarm.abort();
    await this.#deps.clock.sleep(Math.max(0, ms), alarm.signal).catch(() => undefined);
  }
}

/** A closed budget is what the user was told of when it closed. */
function levelOf(failure: Error): 'warn' | 'debug' {
  return failure instanceof BudgetClosed ? 'debug' : 'warn';
}
