import type { Api } from '../api/client.ts';
import { BudgetClosed } from '../budget/permit.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { type Entry, emptyEntry, type Store, sourceId } from '../snapshot/snapshot.ts';
import type { Pace, Poll, Source } from '../sources/source.ts';
import { isMaterialChange, isTimeToTell, type Telling } from './paces.ts';
import { afterPoll, countVain, nextAttemptAt } from './plan.ts';
import { type Known, type Permits, paceOf, pacesOfKnown, type SourceView, viewsOf } from './views.ts';

export interface SchedulerDependencies extends Permits {
  readonly api: Api;
  readonly clock: Clock;
  readonly store: Store;
  readonly log: Logger;
  /** Whether any limit is known. Until then one poll at a time finds out, so that a nearly used up quota is not spent. */
  readonly isInformed: () => boolean;
  /** The limits as far as known: another text where any has changed. */
  readonly limits: () => string;
  /** Told of the paces at first, and when they have changed materially, once a day at most while the limits stay. */
  readonly onPlan: (paces: ReadonlyMap<Source, Pace>) => void;
  /** Told when what is shown of a source changed. */
  readonly onChange: (source: Source) => void;
}

interface Slot extends Known {
  shown: Entry;
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
  /** Monotonic ms at which the loop first found a source due that it could not start; the longest ago first. */
  readonly #lateSince = new Map<Source, number>();
  #heartbeatAt: number;
  #saveFailures = 0;
  #told: ReadonlyMap<Source, Pace> | undefined;
  #telling: Telling | undefined;
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

  /** What is due for longest, as the loop saw it: a step of the clock makes nothing late. */
  get overdue(): { readonly source: Source; readonly ms: number } | undefined {
    const [first] = this.#lateSince;
    return first && { source: first[0], ms: this.#deps.clock.monotonic() - first[1] };
  }

  get saveFailures(): number {
    return this.#saveFailures;
  }

  /** What is shown, by source id. */
  entries(): ReadonlyMap<string, Entry> {
    return new Map(this.#slots.map(({ source, shown }) => [sourceId(source), shown]));
  }

  /** What is shown of each source, in their order. */
  views(): SourceView[] {
    return viewsOf(this.#slots, this.#deps, this.#deps.clock.now());
  }

  /** Writes again what could not be written, or was lost; what is polled now is written as it was, and at the poll's end. */
  saveAgain(signal: AbortSignal): void {
    for (const slot of this.#slots) {
      const { source, known, running } = slot;
      if (known.attempts === 0) continue;
      if (!running) this.#run(slot, () => this.#persist(slot, signal));
      else this.#deps.store.save(sourceId(source), known).catch(() => undefined);
    }
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
    const paces = pacesOfKnown(this.#slots, this.#deps.allowance);
    let next = Number.POSITIVE_INFINITY;
    for (const slot of this.#slots) {
      if (slot.running) continue;
      const pace = paceOf(paces, slot.source);
      const at = nextAttemptAt(slot.source, slot.known, { now, ...pace }, this.#deps.opensAt(slot.source));
      const mayStart = this.#running.size === 0 || this.#mayJoin();
      if (at > now) next = Math.min(next, at);
      else if (mayStart) this.#run(slot, () => this.#poll(slot, pace, signal));
      if (at > now || mayStart) this.#lateSince.delete(slot.source);
      else if (!this.#lateSince.has(slot.source)) this.#lateSince.set(slot.source, this.#heartbeatAt);
    }
    this.#tell(paces);
    return next;
  }

  /** Whether polls may run side by side: once a limit is known, or after the first poll has not learned of one. */
  #mayJoin(): boolean {
    return this.#deps.isInformed() || this.#slots.some(({ known }) => known.attempts > 0);
  }

  #tell(paces: ReadonlyMap<Source, Pace>): void {
    if (!this.#deps.isInformed() || (this.#told ? !isMaterialChange(this.#told, paces) : this.#isMeasuring(paces)))
      return;
    const at = this.#deps.clock.monotonic();
    const limits = this.#deps.limits();
    if (this.#telling && !isTimeToTell(this.#telling, limits, at)) return;
    this.#told = paces;
    this.#telling = { at, limits, firstAt: this.#telling?.firstAt ?? at };
    this.#deps.onPlan(paces);
  }

  /** Whether what a source costs, or how long it takes, is about to be known. */
  #isMeasuring(paces: ReadonlyMap<Source, Pace>): boolean {
    return this.#slots.some(({ source, known: { attempts, durationMs }, running }) => {
      if (attempts === 0) return running;
      // The first sweep of a large fleet takes longer than those after it, which begin at once.
      return attempts === 1 && durationMs >= paceOf(paces, source).intervalMs;
    });
  }

  /** One thing at a time for each source: what is saved or shown later is never older. */
  #run(slot: Slot, work: () => Promise<void>): void {
    slot.running = true;
    const run = work().finally(() => {
      slot.running = false;
      this.#running.delete(run);
      this.#wake();
    });
    this.#running.add(run);
  }

  async #poll(slot: Slot, pace: Pace, signal: AbortSignal): Promise<void> {
    const { clock, api, log } = this.#deps;
    const { source } = slot;
    const now = clock.now();
    const start = clock.monotonic();
    let requests = 0;
    const counting: Api = {
      ...api,
      request(...call) {
        requests += 1;
        return api.request(...call);
      },
    };
    const { intervalMs, coverage } = pace;
    const timing = { now, intervalMs, coverage };
    let poll: Poll<unknown>;
    try {
      poll = await source.poll(counting, slot.known.value, timing, signal);
    } catch (error) {
      if (signal.aborted) return;
      poll = { value: slot.known.value, failure: error instanceof Error ? error : new Error(String(error)) };
    }
    const run = { start: now, durationMs: clock.monotonic() - start, intervalMs, coverage, requests };
    slot.known = countVain(source, afterPoll(slot.known, poll, run), timing);
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
      clock.sleep(SAVE_RETRY_MS, signal).then(
        () => {
          if (slot.known === entry && !slot.running) this.#run(slot, () => this.#persist(slot, signal));
        },
        () => undefined,
      );
      return;
    }
    slot.shown = entry;
    onChange(slot.source);
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
