import { SECOND } from '../../support/timing.ts';
import { type Scrape, valueIn } from '../scrape.ts';
import type { World } from '../world.ts';

/** The interval is told with the exporter's own metrics, and values are withdrawn a moment later. */
const SLACK_MS = 5_000;
/** `stale_after: auto` is at least this. */
const SHORTEST_SECONDS = 600;

interface Told {
  readonly at: number;
  readonly seconds: number;
  /** How many polls had succeeded. */
  readonly successes: number;
}

/** What makes it impossible to say how old a value may be: a stopped process, and a clock that was set. */
export class Restlessness {
  /** When each host was last restless. */
  readonly #at = new Map<string, number>();
  #seenAt = 0;
  /** The intervals of machines that each host told lately. */
  readonly #told = new Map<string, readonly Told[]>();
  #staleAfter: number | undefined;
  /** Seconds. */
  #redisAhead = 0;

  see(world: World): void {
    const now = world.clock.now();
    for (const { name, process } of world.hosts) if (process?.clock.isPaused) this.#at.set(name, now);
    for (const event of world.traffic.since(this.#seenAt))
      if (event.kind === 'step' && event.byMs !== 0) this.#at.set(event.host, event.at);
    this.#seenAt = now;
    // Replicas go by the clock of Redis.
    const ahead = Math.round(((world.redis?.now() ?? now) - now) / 1_000);
    if (ahead !== this.#redisAhead) for (const { name } of world.hosts) this.#at.set(name, now);
    this.#redisAhead = ahead;
    // A reload changes it at some time.
    const { staleAfter } = world.exporter;
    if (staleAfter !== this.#staleAfter) for (const { name } of world.hosts) this.#at.set(name, now);
    this.#staleAfter = staleAfter;
  }

  /**
   * Whether the values of a push must be shown: it is younger than any configuration allows to withdraw, and nothing has
   * disturbed its host since, which may withdraw values until the next poll.
   */
  mustShow({ host, ownAt }: Scrape, pushedAt: number, { clock, redis, exporter }: World): boolean {
    const clocks = [clock.now(), ownAt, redis?.now() ?? ownAt];
    const youngest = SECOND * (exporter.staleAfter ?? SHORTEST_SECONDS) - exporter.refreshMs - SLACK_MS;
    const isFromFuture = pushedAt > Math.min(...clocks);
    return !isFromFuture && Math.max(...clocks) - pushedAt < youngest && pushedAt > (this.#at.get(host) ?? 0);
  }

  /** How old a value may be that is shown, ms. undefined: nothing can be said. */
  staleAfter(scrape: Scrape, world: World): number | undefined {
    const { staleAfter, refreshMs } = world.exporter;
    const read = (name: string): number => valueIn(scrape, `beaconchain_source_${name}`, 'source="machines"') ?? 0;
    const told = {
      at: scrape.at,
      seconds: read('interval_seconds'),
      successes: read('attempts_total') - read('failures_total'),
    };
    const before = this.#told.get(scrape.host) ?? [];
    // A value that was polled at a longer interval is shown for as long as that allows.
    const recent = before.filter(
      ({ successes }, i) =>
        successes >= told.successes - 1 || scrape.at - (before[i + 1]?.at ?? scrape.at) < refreshMs + SLACK_MS,
    );
    this.#told.set(scrape.host, [...recent, told]);
    const calmAt = (this.#at.get(scrape.host) ?? Number.NEGATIVE_INFINITY) + 2 * refreshMs + SLACK_MS;
    if (scrape.at <= calmAt) return undefined;
    // The first poll may be made at an interval that is never told: its answer says what polls cost.
    if (staleAfter === undefined && told.successes <= 1 && world.story.setting.service.plan.perMonth !== undefined)
      return undefined;
    // A little more, because others change the interval between two scrapes.
    const longest = 1.2 * Math.max(told.seconds, ...recent.map(({ seconds }) => seconds));
    const allowed = staleAfter === undefined ? Math.max(SHORTEST_SECONDS, 2 * longest + 180) : staleAfter;
    return allowed * 1_000 + refreshMs + SLACK_MS;
  }
}
