import { type Chain, EPOCHS_PER_DAY, epochAt, SECONDS_PER_EPOCH } from '../../../src/facts/chain.ts';
import { limitsOf } from '../../../src/sandbox/account.ts';
import type { AttesterSlashing } from '../../../src/sandbox/chain-world.ts';
import { HOUR, SECOND } from '../../support/time/timing.ts';
import type { ExporterSetting } from '../exporter-setting.ts';
import { type Scrape, valueIn } from '../scrape.ts';
import { kindOf, slashedValidators } from '../service/chain-truth.ts';
import type { ChainView } from '../service/chain-view.ts';
import type { World } from '../world.ts';
import { after, type Bounds, COUNTERS, epochBounds, NOTHING, seriesOfCounters } from './chain-counts.ts';
import type { Check } from './check.ts';

const MAX_EPOCHS_PER_POLL = 12;
const KINDS = ['double_vote', 'surround_vote', 'unknown'];
/** A scarce budget can have been the reason for what is seen this much later. */
const SCARCE_MS = 2 * HOUR;
/** A smaller quota can be scarce for a moment between two scrapes, while daily data is overdue. */
const AMPLE_PER_MONTH = 30_000;

/** The counters after all finalized epochs up to `scanned` are counted or skipped. */
interface Point extends Bounds {
  readonly scanned: number;
  readonly skipped: number;
}

/** What was seen of the counters of one chain. */
class ChainHistory {
  readonly #chain: Chain;
  readonly #view: ChainView;
  readonly #series: readonly string[];
  #point: Point | undefined;
  /** What was final when. */
  readonly #finality: { readonly at: number; readonly epoch: number }[];
  /** Every list of watched validators that was configured for the chain. It is for the first one. */
  readonly #watchLists: (readonly number[])[] = [];
  #catchUpHours = Number.POSITIVE_INFINITY;
  /** When the budget did not allow to read every epoch. */
  #scarceAt = Number.NEGATIVE_INFINITY;
  /** The scanned epoch when it was last looked in the calm. */
  #scannedBefore: number | undefined;

  constructor(chain: Chain, view: ChainView, now: number) {
    this.#chain = chain;
    this.#view = view;
    this.#series = seriesOfCounters(chain);
    this.#finality = [{ at: now, epoch: view.chain.finalized }];
  }

  /** A configuration that a process has read. */
  configured(exporter: ExporterSetting): void {
    this.#catchUpHours = Math.min(this.#catchUpHours, exporter.catchUpHours);
    const list = exporter.chains[0] === this.#chain ? exporter.watch : [];
    if (!this.#watchLists.some((one) => String(one) === String(list))) this.#watchLists.push(list);
  }

  see(scrape: Scrape, world: World): string | undefined {
    const { finalized, headSlot } = this.#view.chain;
    if (this.#finality.at(-1)?.epoch !== finalized) this.#finality.push({ at: scrape.at, epoch: finalized });
    if (this.#isScarce(scrape, world)) this.#scarceAt = scrape.at;
    const read = (name: string): number | undefined => valueIn(scrape, `beaconchain_${name}`, `chain="${this.#chain}"`);
    const [scanned, known = 0, head = 0] = [read('scanned_epoch'), read('finalized_epoch'), read('head_slot')];
    if (known > finalized) return `finalized_epoch is ${known}, but ${finalized} is final`;
    if (head > headSlot) return `head_slot is ${head}, but the chain is at ${headSlot}`;
    if (scanned === undefined) return undefined;
    if (scanned > finalized) return `epoch ${scanned} is counted, but only ${finalized} is final`;
    const skipped = read('skipped_epochs_total') ?? 0;
    const values = this.#series.map((series) => scrape.series.get(series) ?? Number.NaN);
    let wrong: string | undefined;
    for (const before of this.#beginnings(scanned)) {
      const next = this.#extend(before, scanned, skipped, world);
      const why = typeof next === 'string' ? next : outOf(next, values);
      if (typeof next !== 'string' && why === undefined) {
        this.#point = next;
        return this.#slashings(scrape, next.slashings);
      }
      wrong ??= why;
    }
    return wrong;
  }

  /** Counting begins with an epoch that was the finalized one at some time since the start. */
  #beginnings(scanned: number): readonly Point[] {
    if (this.#point) return [this.#point];
    const first = this.#view.chain.finalizedAtStart;
    return Array.from({ length: scanned - first + 2 }, (_, i) => ({ ...NOTHING, scanned: first - 1 + i, skipped: 0 }));
  }

  #extend(from: Point, scanned: number, skipped: number, world: World): Point | string {
    if (scanned < from.scanned) return `epoch ${scanned} is the last one counted, after ${from.scanned}`;
    const epochs = Array.from({ length: scanned - from.scanned }, (_, i) => from.scanned + 1 + i);
    const left = skipped - from.skipped;
    const mayBeLeft = epochs.filter((epoch) => this.#mayBeGivenUp(epoch, world)).length;
    if (left < 0 || left > mayBeLeft)
      return `${left} of the epochs after ${from.scanned} up to ${scanned} are skipped, ${mayBeLeft} of which may be`;
    const isHourLong = world.traffic.steps.length === 0;
    const bounds = epochs.map((epoch) => epochBounds(this.#view, epoch, this.#watchLists, isHourLong));
    return { scanned, skipped, ...after(from, bounds, epochs.length - left) };
  }

  /** An epoch that could not be read for an hour, is beyond catch_up, or too much for the budget. */
  #mayBeGivenUp(epoch: number, { traffic, clock }: World): boolean {
    const { finalized } = this.#view.chain;
    if (clock.now() - this.#scarceAt < SCARCE_MS || traffic.steps.length > 0) return true;
    if (finalized - epoch >= (this.#catchUpHours / 24) * EPOCHS_PER_DAY) return true;
    const i = this.#finality.findIndex((one) => one.epoch >= epoch);
    return clock.now() - (this.#finality[Math.max(0, i - 1)]?.at ?? clock.now()) >= HOUR;
  }

  #isScarce(scrape: Scrape, { lastRead, service, story }: World): boolean {
    const told = (name: string): number =>
      valueIn(scrape, `beaconchain_source_${name}`, `source="slashings",chain="${this.#chain}"`) ?? 0;
    const plans = [story.setting.service.plan, limitsOf(service.account.plan)];
    if (plans.some(({ perMonth = AMPLE_PER_MONTH }) => perMonth < AMPLE_PER_MONTH)) return true;
    const hasQuota = plans.some(({ perMonth }) => perMonth !== undefined);
    const interval = told('interval_seconds');
    // The first poll of the next month is planned before an answer reports its limits.
    if (hasQuota && told('quota_wait_end_timestamp_seconds') > 0) return true;
    return interval > SECONDS_PER_EPOCH && (hasQuota || interval > 1.05 * lastRead.intervals.slashings);
  }

  /** What is final and counted must be there, and nothing that no process has read. */
  #slashings(scrape: Scrape, final: ReadonlySet<AttesterSlashing>): string | undefined {
    const labels = `chain="${this.#chain}"`;
    const read = this.#view.slashingsRead;
    for (const kind of KINDS) {
      const count = (all: ReadonlySet<AttesterSlashing>) => [...all].filter((one) => kindOf(one) === kind).length;
      const value = valueIn(scrape, 'beaconchain_attester_slashings_total', `${labels},kind="${kind}"`);
      const wrong = outside(value, count(final), count(read));
      if (wrong) return `attester_slashings_total of kind ${kind} ${wrong}`;
    }
    const value = valueIn(scrape, 'beaconchain_attester_slashed_validators_total', labels);
    const wrong = outside(value, slashedValidators(final), slashedValidators(read));
    return wrong && `attester_slashed_validators_total ${wrong}`;
  }

  /** In the calm all final epochs are counted, and the head is known. */
  lag(scrape: Scrape, { exporter }: World): string | undefined {
    const labels = `chain="${this.#chain}"`;
    const told = valueIn(scrape, 'beaconchain_source_interval_seconds', `source="slashings",${labels}`) ?? 0;
    const interval = Math.max(told, exporter.intervals.slashings);
    const scanned = valueIn(scrape, 'beaconchain_scanned_epoch', labels) ?? 0;
    // After hours without requests it takes a while to catch up.
    const isCatchingUp = scanned - (this.#scannedBefore ?? scanned) >= MAX_EPOCHS_PER_POLL;
    this.#scannedBefore = scanned;
    // Finality is read when the head has advanced, and in doubt once more.
    const final = epochAt(this.#chain, scrape.at - SECOND * (2.1 * interval + 30)) - 2;
    if (scanned < final && !isCatchingUp)
      return `epoch ${final} has been final for long, and only ${scanned} is counted`;
    // Where the budget allows no head passes there is none, and where every block has slashings they wait for the epochs.
    if (interval > SECONDS_PER_EPOCH || isCatchingUp) return undefined;
    const shown = epochAt(this.#chain, scrape.at - SECOND * (interval + 60));
    const head = valueIn(scrape, 'beaconchain_head_epoch', labels) ?? 0;
    return head < shown ? `the head is in epoch ${head}, not ${shown}` : undefined;
  }
}

function outOf({ low, high, scanned, skipped }: Point, values: readonly number[]): string | undefined {
  const off = values.findIndex((value, i) => {
    // Without watched validators, the family has no series.
    if (Number.isNaN(value) && COUNTERS[i]?.startsWith('watched_')) return false;
    return !(value >= Number(low[i]) && value <= Number(high[i]));
  });
  if (off === -1) return undefined;
  const wrong = outside(values[off], Number(low[off]), Number(high[off]));
  return `${COUNTERS[off]} ${wrong}, with epoch ${scanned} counted and ${skipped} skipped`;
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
  const histories = new Map<Chain, ChainHistory>();
  const settings: ExporterSetting[] = [];
  return {
    name: 'slashings: every final epoch is counted once',
    onEvent(event) {
      if (event.kind !== 'start' && event.kind !== 'reload') return undefined;
      settings.push(event.exporter);
      for (const history of histories.values()) history.configured(event.exporter);
      return undefined;
    },
    onMoment(world) {
      const now = world.clock.now();
      for (const chain of world.exporter.chains) {
        if (histories.has(chain)) continue;
        const history = new ChainHistory(chain, world.service.chain(chain, now), now);
        for (const exporter of settings) history.configured(exporter);
        histories.set(chain, history);
      }
      return undefined;
    },
    onScrape(scrape, world) {
      for (const [chain, history] of histories) {
        world.service.chain(chain, scrape.at);
        const wrong = history.see(scrape, world);
        if (wrong !== undefined) return `${chain}: ${wrong}`;
      }
      return undefined;
    },
    atEnd(world, scrape) {
      const lags = world.exporter.chains.map((chain) => ({ chain, wrong: histories.get(chain)?.lag(scrape, world) }));
      const late = lags.find(({ wrong }) => wrong !== undefined);
      return late && `${late.chain}: ${late.wrong}`;
    },
  };
}
