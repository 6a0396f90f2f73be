import { type Chain, EPOCHS_PER_DAY, epochAt, SECONDS_PER_EPOCH } from '../../../src/lib/chain.ts';
import { validatorsOf } from '../../support/chain.ts';
import { HOUR } from '../../support/timing.ts';
import { type Scrape, valueIn } from '../scrape.ts';
import type { ChainView } from '../service/chain-view.ts';
import type { World } from '../world.ts';
import { after, type Bounds, COUNTERS, EpochTruths, NOTHING, seriesOfCounters } from './chain-counts.ts';
import type { Check } from './check.ts';
import { Circumstances, Successes } from './circumstances.ts';
import { Losses } from './losses.ts';

/** A poll reads so many at most. */
const EPOCHS_PER_POLL = 12;
const KINDS = ['double_vote', 'surround_vote', 'unknown'];

/** The counters after all finalized epochs up to `scanned` are counted or skipped. */
interface Point extends Bounds {
  readonly scanned: number;
  readonly skipped: number;
}

/** All slots that are counted, of whatever status. */
function slotsOf([proposed = 0, missed = 0, orphaned = 0]: readonly number[]): number {
  return proposed + missed + orphaned;
}

/** What was seen of the counters of one chain. */
class ChainHistory {
  readonly view: ChainView;
  readonly #chain: Chain;
  readonly #truths: EpochTruths;
  readonly #series: readonly string[];
  readonly #firstFinal: number;
  readonly #points: Point[] = [];
  readonly #losses = new Losses();
  #mayBegin = true;
  /** When the first point was seen. Followers that are scraped at the same moment may show an earlier one. */
  #begunAt = Number.POSITIVE_INFINITY;
  /** What was final when. */
  readonly #finality: { readonly at: number; readonly epoch: number }[];

  constructor(chain: Chain, view: ChainView, now: number) {
    this.#chain = chain;
    this.view = view;
    this.#truths = new EpochTruths(view);
    this.#series = seriesOfCounters(chain);
    // Epochs may have become final between the start and the first scrape.
    this.#firstFinal = view.chain.finalizedAtStart;
    this.#finality = [{ at: now, epoch: view.chain.finalized }];
  }

  see(scrape: Scrape, world: World, circumstances: Circumstances): string | undefined {
    const { finalized, headSlot } = this.view.chain;
    if (this.#finality.at(-1)?.epoch !== finalized) this.#finality.push({ at: scrape.at, epoch: finalized });
    const read = (name: string): number | undefined => valueIn(scrape, name, `chain="${this.#chain}"`);
    const [scanned, known, head] = ['scanned_epoch', 'finalized_epoch', 'head_slot'].map((name) =>
      read(`beaconchain_${name}`),
    );
    if (known !== undefined && known > finalized) return `finalized_epoch is ${known}, but ${finalized} is final`;
    if (head !== undefined && head > headSlot) return `head_slot is ${head}, but the chain is at ${headSlot}`;
    if (scanned === undefined) return undefined;
    if (scanned > finalized) return `epoch ${scanned} is counted, but only ${finalized} is final`;
    const skipped = read('beaconchain_skipped_epochs_total') ?? 0;
    const values = this.#series.map((series) => scrape.series.get(series) ?? Number.NaN);
    // Where the state is lost, what follows begins again.
    if (this.#losses.mayStepBack(scrape.host, world) || scrape.at === this.#begunAt) this.#mayBegin = true;
    if (this.#mayBegin) this.#begunAt = scrape.at;
    const at = { scanned, skipped };
    const explained = this.#explained(at, values, circumstances);
    if (typeof explained === 'string') return `${scrape.host}: ${explained}`;
    return this.#slashings(scrape, world, explained.slashings);
  }

  #explained(
    at: { scanned: number; skipped: number },
    values: readonly number[],
    circumstances: Circumstances,
  ): Point | string {
    let wrong: string | undefined;
    for (const parent of this.#parents(at)) {
      if (wrong !== undefined && !this.#hasItsSlots(parent, at, values)) continue;
      const point = parent.scanned === at.scanned ? parent : this.#extend(parent, at, circumstances);
      if (typeof point === 'string') wrong ??= point;
      else {
        const off = point.low.findIndex(
          (low, i) => !(Number(values[i]) >= low && Number(values[i]) <= Number(point.high[i])),
        );
        if (off === -1) {
          this.#add(point);
          return point;
        }
        const [low, high] = [point.low[off], point.high[off]];
        wrong ??= `${COUNTERS[off]} is ${values[off]} with epoch ${at.scanned} counted, ${at.skipped} skipped, not ${low === high ? low : `${low} to ${high}`}`;
      }
    }
    return wrong ?? `${at.skipped} epochs are skipped up to ${at.scanned}, fewer than before`;
  }

  /** From where the counters can have come here, the likeliest first. */
  *#parents({ scanned, skipped }: { scanned: number; skipped: number }): Generator<Point> {
    for (let i = this.#points.length - 1; i >= 0; i -= 1) {
      const point = this.#points[i];
      if (!point || point.scanned > scanned || point.skipped > skipped) continue;
      if (scanned - point.scanned >= skipped - point.skipped) yield point;
    }
    if (!this.#mayBegin) return;
    for (let first = this.#firstFinal; first <= scanned + 1; first += 1)
      yield { ...NOTHING, scanned: first - 1, skipped: 0 };
  }

  /** Whether the slots counted since are about 32 for each epoch. After a loss most beginnings are excluded by this alone. */
  #hasItsSlots(parent: Point, at: { scanned: number; skipped: number }, values: readonly number[]): boolean {
    const { incomplete, late } = this.view;
    const counted = at.scanned - parent.scanned - (at.skipped - parent.skipped);
    const sure = counted - incomplete.size - late.size - 1;
    const slots = slotsOf(values);
    return slots <= slotsOf(parent.high) + 32 * counted && slots >= slotsOf(parent.low) + 32 * sure;
  }

  #extend(
    parent: Point,
    { scanned, skipped }: { scanned: number; skipped: number },
    circumstances: Circumstances,
  ): Point | string {
    const epochs = Array.from({ length: scanned - parent.scanned }, (_, i) => parent.scanned + 1 + i);
    const left = skipped - parent.skipped;
    if (left > 0 && !circumstances.maySkip(this.#chain)) {
      const old = epochs.filter((epoch) => this.#mayBeGivenUp(epoch, circumstances)).length;
      if (old < left) return `${left} of the epochs ${epochs[0]} to ${scanned} are skipped, ${old} of which may be`;
    }
    const truths = epochs.map((epoch) =>
      this.#truths.of(epoch, circumstances.watchLists(this.#chain), !circumstances.wasClockStepped),
    );
    return { scanned, skipped, ...after(parent, truths, epochs.length - left) };
  }

  /** An epoch that could not be read for an hour, or is beyond catch_up. */
  #mayBeGivenUp(epoch: number, { now, catchUpDays, wasClockStepped }: Circumstances): boolean {
    if (wasClockStepped || this.view.chain.finalized - epoch >= catchUpDays * EPOCHS_PER_DAY) return true;
    const i = this.#finality.findIndex((one) => one.epoch >= epoch);
    const since = this.#finality[Math.max(0, i - 1)]?.at ?? now;
    return now - since >= HOUR;
  }

  #add(point: Point): void {
    this.#mayBegin = false;
    if (this.#points.includes(point)) return;
    let i = this.#points.length;
    while (i > 0 && isBefore(point, this.#points[i - 1])) i -= 1;
    this.#points.splice(i, 0, point);
  }

  /** What is final and counted must be there, and nothing that no process has read. */
  #slashings(scrape: Scrape, world: World, final: ReadonlySet<number>): string | undefined {
    const chain = `chain="${this.#chain}"`;
    const read = new Set(
      world.hosts.flatMap(({ name }) => [...world.service.records.slashingsRead(name, this.#chain).keys()]),
    );
    for (const [number, kind] of KINDS.entries()) {
      const count = (all: ReadonlySet<number>): number => [...all].filter((one) => one % 3 === number).length;
      const value = valueIn(scrape, 'beaconchain_attester_slashings_total', `${chain},kind="${kind}"`);
      const wrong = outside(value, count(final), count(read));
      if (wrong) return `${scrape.host}: attester_slashings_total of kind ${kind} ${wrong}`;
    }
    const validators = (all: ReadonlySet<number>): number => new Set([...all].flatMap(validatorsOf)).size;
    const value = valueIn(scrape, 'beaconchain_attester_slashed_validators_total', chain);
    const wrong = outside(value, validators(final), validators(read));
    return wrong && `${scrape.host}: attester_slashed_validators_total ${wrong}`;
  }
}

function isBefore(a: Point, b: Point | undefined): boolean {
  return b !== undefined && (a.scanned < b.scanned || (a.scanned === b.scanned && a.skipped < b.skipped));
}

function outside(value: number | undefined, low: number, high: number): string | undefined {
  if (value !== undefined && value >= low && value <= high) return undefined;
  return `is ${value}, not ${low === high ? low : `${low} to ${high}`}`;
}

/**
 * The counters of a chain are at any time those of the finalized epochs that are counted, and of the slashings that were
 * read. In calm all final epochs are counted.
 */
export function chainsCounted(): Check {
  const circumstances = new Circumstances();
  const successes = new Successes();
  /** The scanned epochs when it was last looked in the calm. */
  const scannedBefore = new Map<string, number>();
  const histories = new Map<Chain, ChainHistory>();
  return {
    name: 'slashings: every final epoch is counted once',
    onMoment: (world) => circumstances.see(world),
    onScrape(scrape, world) {
      circumstances.seeScrape(scrape, world);
      successes.see(scrape, world);
      for (const chain of world.lastRead.chains) {
        const view = world.service.chain(chain, scrape.at);
        const history = histories.get(chain) ?? new ChainHistory(chain, view, scrape.at);
        histories.set(chain, history);
        const wrong = history.see(scrape, world, circumstances);
        if (wrong !== undefined) return `${chain}: ${wrong}`;
      }
      return undefined;
    },
    atEnd(world, scrapes) {
      for (const scrape of scrapes) {
        for (const chain of world.exporter.chains) {
          const isDue = successes.areDue(scrape, `source="slashings",chain="${chain}"`);
          const key = `${scrape.host} ${chain}`;
          const scanned = valueIn(scrape, 'beaconchain_scanned_epoch', `chain="${chain}"`) ?? 0;
          // After hours without requests it takes a while to catch up.
          const isCatchingUp = scanned - (scannedBefore.get(key) ?? scanned) >= EPOCHS_PER_POLL;
          scannedBefore.set(key, scanned);
          const wrong = isDue && !isCatchingUp ? lagOf(scrape, chain, world) : undefined;
          if (wrong !== undefined) return `${scrape.host}: ${chain}: ${wrong}`;
        }
      }
      return undefined;
    },
  };
}

/** Finality is read when the head has advanced, and in doubt once more. */
function lagOf(scrape: Scrape, chain: Chain, { exporter }: World): string | undefined {
  const labels = `chain="${chain}"`;
  const source = `source="slashings",${labels}`;
  const told = valueIn(scrape, 'beaconchain_source_interval_seconds', source) ?? 0;
  const interval = Math.max(told, exporter.intervals.slashings);
  const scanned = valueIn(scrape, 'beaconchain_scanned_epoch', labels) ?? 0;
  const expected = epochAt(chain, scrape.at - 1_000 * (2.1 * interval + 30)) - 2;
  if (scanned < expected) return `epoch ${expected} has been final for long, and only ${scanned} is counted`;
  const head = valueIn(scrape, 'beaconchain_head_epoch', labels);
  // Where the budget allows no head passes there is none.
  if (interval > SECONDS_PER_EPOCH) return undefined;
  const shown = epochAt(chain, scrape.at - 1_000 * (interval + 60));
  return head === undefined || head < shown ? `the head is in epoch ${head}, not ${shown}` : undefined;
}
