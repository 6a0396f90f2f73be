import { PAGE_SIZE } from '../../api/endpoints.ts';
import { EPOCHS_PER_DAY, epochAt, MS_PER_EPOCH } from '../../facts/chain.ts';
import { sizeOf } from '../../facts/groups.ts';
import { type Identifier, indicesOf, type Watch, watches, watchOf } from '../../facts/watch.ts';
import { MS_PER_DAY, MS_PER_MINUTE } from '../../toolkit/lib/duration.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import { attempt, GIVE_UP_AFTER_MS, isRequestSpecific } from '../answers.ts';
import type { Read, ReadContext } from '../read.ts';
import {
  type Chunk,
  chunksIn,
  EpochCounters,
  type EpochRow,
  NO_EPOCHS,
  NotYet,
  type OwnOf,
  readRows,
} from './epoch-counters.ts';
import { EPOCH_DUTIES, EPOCH_REWARDS, type EpochPart } from './epoch-parts.ts';
import { requestsFor, type ValidatorsOptions } from './options.ts';
import { identifierOf, type Ledger, type Validator, type Validators } from './state.ts';
import { hadNoDutiesIn } from './status.ts';

/** `auto` takes at most this share of the limits. */
const AUTO_SHARE = 0.25;
/**
 * A run ends after so many requests, or so long, so that the status need not wait for a large set or for others on the budget. The next
 * run continues at once.
 */
const REQUESTS_OF_RUN = 100;
const RUN_MS = MS_PER_MINUTE;
/** After so many failures a run asks whether the service works at all. */
const FAILURES_OF_RUN = 3;
/** Older epochs are read at the lowest priority. */
const FRESH_EPOCHS = 3;
/** At the first start the slashings source usually knows in seconds what is final. Until then nothing is requested. */
const FINALITY_MS = 5_000;
/** Several epochs can become final at once, so up to so many may wait without a stop. */
const LEAST_CAUGHT_UP = 3;
/** An epoch that the service lacks is late once so many later ones are final. */
const LATE_EPOCHS = 10;
/** How many validators to name in an event. */
const NAMED = 20;

/** Duties and rewards of the watched validators in every finalized epoch. The budget pays for duties first. */
export function epochReads(options: ValidatorsOptions): Read<Validators>[] {
  return options.epochs === false ? [] : [epochRead(options, EPOCH_DUTIES), epochRead(options, EPOCH_REWARDS)];
}

function epochRead<Row extends EpochRow, Own extends OwnOf>(
  options: ValidatorsOptions,
  part: EpochPart<Row, Own>,
): Read<Validators> {
  const chunks = requestsFor(options.groups.map(sizeOf), PAGE_SIZE);
  return {
    name: part.name,
    endpoints: [part.endpoint],
    everyMs: MS_PER_EPOCH,
    spare: options.epochs === true ? 1 : AUTO_SHARE,
    assumed: chunks,
    price: ({ intervalMs, isStretched }) => chunks * (isStretched ? MS_PER_DAY / intervalMs : EPOCHS_PER_DAY),
    due(value, last, { now, isStretched, intervalMs }, tick) {
      const { again, cursor, begunAt = last.attemptAt } = part.of(value) ?? {};
      // An epoch of a large set takes several runs, so the interval counts from the start of the epoch. If the next epoch is not final by
      // then, look every minute.
      const nextAt = Math.max(begunAt + intervalMs, last.attemptAt + MS_PER_MINUTE);
      if (again === undefined) return isStretched ? Math.min(tick, nextAt) : tick;
      if (again === 'now') return now;
      // Each look writes the state, so the wait grows to a minute.
      const waitMs = cursor === undefined ? Math.max(FINALITY_MS, Math.abs(last.attemptAt - begunAt)) : MS_PER_MINUTE;
      return Math.min(tick, last.attemptAt + Math.min(waitMs, MS_PER_MINUTE));
    },
    async run(context, value) {
      const pass = new Pass(options, part, context, value);
      const failure = await pass.run();
      return { value: pass.value(), failure };
    },
  };
}

/** One run over the final epochs that are not counted yet. */
class Pass<Row extends EpochRow, Own extends OwnOf> {
  readonly #options: ValidatorsOptions;
  readonly #part: EpochPart<Row, Own>;
  readonly #context: ReadContext;
  readonly #before: Validators;
  readonly #known: ReadonlyMap<Identifier, Validator>;
  #ledger: Ledger;
  readonly #counters: EpochCounters<Row, Own>;
  #done: Set<number>;
  #failed: Set<number>;
  readonly #unreadable: Set<number>;
  /** Whether the service works in this run. Undefined if unknown. */
  #isWorking: boolean | undefined;
  #requests = 0;
  /** What this attempt adds to the time of trying the first epoch. */
  #ownMs: number;

  constructor(options: ValidatorsOptions, part: EpochPart<Row, Own>, context: ReadContext, value: Validators) {
    const ledger = part.of(value) ?? NO_EPOCHS;
    this.#options = options;
    this.#part = part;
    this.#context = context;
    this.#before = value;
    this.#known = new Map(value.validators.map((one) => [identifierOf(one), one]));
    this.#ledger = ledger;
    this.#counters = new EpochCounters(part, ledger);
    this.#done = new Set(indicesOf(ledger.done));
    this.#failed = new Set(indicesOf(ledger.failed));
    this.#unreadable = new Set(indicesOf(ledger.unreadable));
    this.#ownMs = ledger.triedMs === undefined ? 0 : context.ownMs;
  }

  /** The value after the run. */
  value(): Validators {
    const { watch } = this.#options;
    const counted = this.#counters.counted();
    const validators = counted.validators.filter(([one]) => watches(watch, one));
    const watched = (all: Iterable<number>): { first: number; last: number }[] => [
      ...watchOfAll([...all].filter((one) => watches(watch, one))),
    ];
    const [failed, unreadable] = [watched(this.#failed), watched(this.#unreadable)];
    // Counted validators stay counted, even if they are not watched for a while.
    const ledger = { ...this.#ledger, ...counted, done: [...watchOfAll(this.#done)], failed, unreadable };
    return this.#part.with(this.#before, { ...ledger, validators });
  }

  async run(): Promise<Error | undefined> {
    const { chain } = this.#options;
    const { inputs, timing, stop } = this.#context;
    const { finality } = inputs;
    const isLongStop = stop && stop.to - stop.from > this.#caughtUp * MS_PER_EPOCH;
    this.#set({
      again: finality ? undefined : 'soon',
      ...(!finality && { begunAt: this.#ledger.begunAt ?? timing.now }),
      ...(isLongStop && { stoppedUntil: stop.to }),
    });
    if (!finality) return undefined;
    const newest = epochAt(chain, finality.at) - 1;
    this.#startOrSkip(newest, finality.readAt);
    let failure: Error | undefined;
    for (let epoch = this.#next(); epoch <= newest; epoch = this.#next()) {
      if (this.#isLong()) {
        this.#set({ again: 'now' });
        break;
      }
      const ended = await this.#countNext(epoch, newest);
      failure ??= ended;
      // A stretched read takes one epoch an interval.
      if (this.#next() === epoch || timing.isStretched) break;
    }
    return failure;
  }

  /** In epochs. */
  get #caughtUp(): number {
    return Math.max(LEAST_CAUGHT_UP, Math.floor(this.#options.catchUpMs / MS_PER_EPOCH));
  }

  #isLong(): boolean {
    const { api, timing } = this.#context;
    return this.#requests >= REQUESTS_OF_RUN || (this.#requests > 0 && api.now() - timing.now >= RUN_MS);
  }

  #next(): number {
    return (this.#ledger.cursor ?? -1) + 1;
  }

  #set(fields: { readonly [key in keyof Ledger]?: Ledger[key] | undefined }): void {
    const all = Object.entries({ ...this.#ledger, ...fields }).filter(([, value]) => value !== undefined);
    this.#ledger = Object.fromEntries(all) as Ledger;
  }

  /** Skips only what became final during a stop, or is more than the budget allows. */
  #startOrSkip(newest: number, readAt: UnixMs): void {
    const { cursor = newest - 1, skipped, stoppedUntil } = this.#ledger;
    const { timing, wasLeftOut } = this.#context;
    this.#set({ cursor, first: this.#ledger.first ?? cursor + 1 });
    // A part that was off skips nothing: it continues with the currently final epoch.
    if (wasLeftOut && cursor < newest - 1) {
      this.#moveTo(newest - 1);
      return;
    }
    const isAfterStop = stoppedUntil !== undefined && readAt >= stoppedUntil;
    if (!isAfterStop && !timing.isStretched) return;
    if (isAfterStop) this.#set({ stoppedUntil: undefined });
    const epochs = newest - this.#caughtUp - cursor;
    if (epochs <= 0) return;
    this.#context.events.push({ type: 'own_epochs_skipped', part: this.#part.name, epochs });
    this.#set({ skipped: skipped + epochs });
    this.#moveTo(cursor + epochs);
  }

  #moveTo(cursor: number): void {
    [this.#done, this.#failed, this.#ownMs] = [new Set(), new Set(), 0];
    this.#set({ cursor, triedMs: undefined });
  }

  /** Reads the rest of an epoch. Advances the cursor once nothing is left. */
  async #countNext(epoch: number, newest: number): Promise<Error | undefined> {
    this.#isWorking = undefined;
    if (this.#done.size === 0) this.#set({ begunAt: this.#context.timing.now });
    const left = chunksIn(this.#options.groups, (one) => !this.#done.has(one));
    const isFailed = ({ validators }: Chunk): boolean => validators.some((one) => this.#failed.has(one));
    const ordered = [...left.filter((one) => !isFailed(one)), ...left.filter(isFailed)];
    const failed: { readonly chunk: Chunk; readonly failure: Error }[] = [];
    for (const chunk of ordered) {
      if (this.#isLong()) break;
      const rows = await attempt(this.#context, () => this.#rowsOf(epoch, newest, chunk.validators));
      if (!(rows instanceof Error)) {
        this.#add(chunk, rows, epoch);
        continue;
      }
      // An outage, or a refusal of all requests, gives up nothing.
      if (!isRequestSpecific(rows)) return rows;
      failed.push({ chunk, failure: rows });
      for (const one of chunk.validators) this.#failed.add(one);
      if (failed.length === FAILURES_OF_RUN && !(await this.#isAnswering(epoch, newest, chunk))) break;
    }
    const failure = failed[0]?.failure;
    if (failure) {
      const [{ chunk }] = failed as [(typeof failed)[number]];
      const isAnswering = await this.#isAnswering(epoch, newest, chunk);
      const triedMs = (this.#ledger.triedMs ?? 0) + (isAnswering ? this.#ownMs : 0);
      this.#set({ triedMs });
      const given = failed
        .map((one) => one.chunk)
        .filter(
          ({ validators }) => triedMs >= GIVE_UP_AFTER_MS || validators.every((one) => this.#unreadable.has(one)),
        );
      if (isAnswering && given.length > 0) this.#giveUp(given, epoch);
    }
    if (this.#isWhole(ordered)) {
      this.#moveTo(epoch);
      this.#set({ counted: epoch });
      return failure;
    }
    if (!failure) this.#set({ again: 'now' });
    // If the service never has the epoch, that is a failure in the end.
    const isNotYet = newest - epoch < LATE_EPOCHS && failed.every((one) => one.failure instanceof NotYet);
    if (!failure || !isNotYet) return failure;
    // A scarce budget cannot pay for a request each minute.
    if (!this.#context.timing.isStretched) this.#set({ again: 'soon' });
    return undefined;
  }

  #isWhole(chunks: readonly Chunk[]): boolean {
    return chunks.every(({ validators }) => validators.every((one) => this.#done.has(one)));
  }

  /**
   * Whether the service works for other requests, so that the failure is specific: for validators of this epoch that it had before,
   * or for the same validators in the newest epoch.
   */
  async #isAnswering(epoch: number, newest: number, { validators }: Chunk): Promise<boolean> {
    if (this.#isWorking !== undefined) return this.#isWorking;
    const given = [...this.#done].filter((one) => !this.#unreadable.has(one) && !this.#hadNoDuties(one, epoch));
    const read = this.#options.groups.map(({ watch }) => given.filter((one) => watches(watch, one)));
    const others = read.find((one) => one.length > 0)?.slice(0, PAGE_SIZE);
    if (!others && epoch === newest) return false;
    const [of, asked] = others ? [epoch, others] : [newest, validators];
    const rows = await attempt(this.#context, () => this.#rowsOf(of, newest, asked));
    // A response without rows may come from a service that has nothing new.
    this.#isWorking = !(rows instanceof Error) && rows.size > 0;
    return this.#isWorking;
  }

  #giveUp(chunks: readonly Chunk[], epoch: number): void {
    const all = chunks.flatMap(({ validators }) => validators);
    const fresh = all.filter((one) => !this.#unreadable.has(one));
    if (fresh.length > 0) {
      const event = { part: this.#part.name, epoch, validators: fresh.slice(0, NAMED), count: fresh.length };
      this.#context.events.push({ type: 'own_epoch_unread', ...event });
    }
    for (const one of all) {
      this.#done.add(one);
      this.#unreadable.add(one);
    }
    this.#set({ unread: this.#ledger.unread + all.length });
  }

  #add(chunk: Chunk, rows: ReadonlyMap<number, Row | undefined>, epoch: number): void {
    const unread = this.#counters.add(chunk, rows, epoch);
    for (const one of chunk.validators) {
      this.#done.add(one);
      this.#failed.delete(one);
      this.#unreadable.delete(one);
    }
    if (rows.size > 0) this.#isWorking = true;
    this.#set({ unread: this.#ledger.unread + unread });
  }

  /** @throws NotYet, RequestFailed */
  #rowsOf(epoch: number, newest: number, validators: readonly number[]): Promise<Map<number, Row | undefined>> {
    this.#requests += 1;
    const priority = newest - epoch < FRESH_EPOCHS ? 'background' : 'catch_up';
    const { chain } = this.#options;
    const hadNoDuties = (one: number): boolean => this.#hadNoDuties(one, epoch);
    return readRows(this.#context, this.#part, { chain, epoch, validators, priority, hadNoDuties });
  }

  #hadNoDuties(validator: number, epoch: number): boolean {
    return hadNoDutiesIn(this.#known.get(validator), epoch);
  }
}

function watchOfAll(validators: Iterable<number>): Watch {
  return watchOf([...validators].map((one) => ({ first: one, last: one })));
}
