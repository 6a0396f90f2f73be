import { type Scrape, valueIn } from '../scrape.ts';
import type { World } from '../world.ts';

const MINUTE = 60_000;
/** The interval is told with the exporter's own metrics, and values are withdrawn a moment later. */
const SLACK_MS = 5_000;

/** What makes it impossible to say how old a value may be: a stopped process, and a clock that was set. */
export class Restlessness {
  /** When each host was last restless. */
  readonly #at = new Map<string, number>();
  readonly #offsets = new Map<string, number>();
  /** The intervals of machines that each host told lately. */
  readonly #told = new Map<string, { readonly at: number; readonly seconds: number }[]>();
  #staleAfter: number | undefined;
  /** Seconds. */
  #redisAhead = 0;

  see(world: World): void {
    const now = world.clock.now();
    for (const { name, process, clockOffsetMs } of world.hosts) {
      if (process?.clock.isPaused || clockOffsetMs !== (this.#offsets.get(name) ?? 0)) this.#at.set(name, now);
      this.#offsets.set(name, clockOffsetMs);
    }
    // Replicas go by the clock of Redis.
    const ahead = Math.round(((world.redis?.now() ?? now) - now) / 1_000);
    if (ahead !== this.#redisAhead) for (const { name } of world.hosts) this.#at.set(name, now);
    this.#redisAhead = ahead;
    // A reload changes it at some time.
    const { staleAfter } = world.exporter;
    if (staleAfter !== this.#staleAfter) for (const { name } of world.hosts) this.#at.set(name, now);
    this.#staleAfter = staleAfter;
  }

  /** How old a value may be that is shown, ms. undefined: nothing can be said. */
  staleAfter(scrape: Scrape, world: World): number | undefined {
    const { staleAfter, refreshMs } = world.exporter;
    const seconds = valueIn(scrape, 'beaconchain_source_interval_seconds', 'source="machines"') ?? 0;
    const recent = (this.#told.get(scrape.host) ?? []).filter(({ at }) => scrape.at - at < refreshMs + SLACK_MS);
    this.#told.set(scrape.host, [...recent, { at: scrape.at, seconds }]);
    if (scrape.at - (this.#at.get(scrape.host) ?? Number.NEGATIVE_INFINITY) <= 2 * refreshMs + SLACK_MS)
      return undefined;
    if (staleAfter !== undefined) return staleAfter * 1_000 + refreshMs + SLACK_MS;
    const told = Math.max(seconds, ...recent.map((one) => one.seconds));
    return Math.max(10 * MINUTE, 2_000 * told + 3 * MINUTE) + refreshMs + SLACK_MS;
  }
}
