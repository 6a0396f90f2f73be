import { SECOND } from '../../support/timing.ts';
import { type Scrape, valueIn } from '../scrape.ts';
import type { TrafficEvent } from '../traffic.ts';
import type { World } from '../world.ts';

/** The interval is told with the exporter's own metrics, and values are withdrawn a moment later. */
const SLACK_MS = 5_000;
/** `stale_after: auto` is at least this. */
const SHORTEST_SECONDS = 600;

interface Told {
  readonly at: number;
  readonly seconds: number;
  /** How many polls had succeeded, in which process. */
  readonly successes: number;
  readonly process: number;
}

/** How old a value of a machine may be that is shown, and must be that is not. */
export class Ages {
  /** When the clock was last set, the process last ran again after a pause, or `stale_after` was last changed. */
  #restlessAt = Number.NEGATIVE_INFINITY;
  #told: readonly Told[] = [];
  #staleAfter: number | undefined;

  note(event: TrafficEvent): undefined {
    if (event.kind === 'step') this.#restlessAt = event.at;
  }

  /** Whether the values of a push must be shown: no configuration allows to withdraw them so soon. */
  mustShow({ ownAt, at }: Scrape, pushedAt: number, { exporter }: World): boolean {
    const youngest = SECOND * (exporter.staleAfter || SHORTEST_SECONDS) - exporter.refreshMs - SLACK_MS;
    const isFromFuture = pushedAt > Math.min(at, ownAt);
    return !isFromFuture && Math.max(at, ownAt) - pushedAt < youngest && pushedAt > this.#restlessAt;
  }

  /** ms; undefined: nothing can be said. */
  longest(scrape: Scrape, { host, exporter, story }: World): number | undefined {
    const { staleAfter, refreshMs } = exporter;
    const read = (name: string): number => valueIn(scrape, `beaconchain_source_${name}`, 'source="machines"') ?? 0;
    const successes = read('attempts_total') - read('failures_total');
    const told = { at: scrape.at, seconds: read('interval_seconds'), successes, process: scrape.process };
    // A value that was polled at a longer interval is shown for as long as that allows.
    const recent = this.#told.filter(
      (one, i) =>
        (one.process === told.process ? one.successes >= successes - 1 : successes <= 1) ||
        scrape.at - (this.#told[i + 1]?.at ?? scrape.at) < refreshMs + SLACK_MS,
    );
    this.#told = [...recent, told];
    // A reload changes it at some time.
    if (staleAfter !== this.#staleAfter) this.#restlessAt = scrape.at;
    this.#staleAfter = staleAfter;
    this.#restlessAt = Math.max(this.#restlessAt, host.pausedAt);
    if (scrape.at <= this.#restlessAt + 2 * refreshMs + SLACK_MS) return undefined;
    if (staleAfter > 0) return SECOND * staleAfter + refreshMs + SLACK_MS;
    // The first poll may be made at an interval that is never told: its answer says what polls cost.
    if (successes <= 1 && story.setting.service.plan.perMonth !== undefined) return undefined;
    // A little more, because others change the interval between two scrapes.
    const longest = 1.2 * Math.max(...this.#told.map(({ seconds }) => seconds));
    return SECOND * Math.max(SHORTEST_SECONDS, 2 * longest + 180) + refreshMs + SLACK_MS;
  }
}
