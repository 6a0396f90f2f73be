import { MINUTE } from '../support/time/timing.ts';
import { ALWAYS } from './always/index.ts';
import { applyEvent } from './events/index.ts';
import { type Scrape, seriesIn, seriesNamed, valueIn } from './scrape.ts';
import type { Failure, Story } from './story.ts';
import { World } from './world.ts';

export interface Outcome {
  readonly failure: Failure | undefined;
  readonly requests: number;
  /** How much time has passed in the story. */
  readonly simulatedMs: number;
  /** The newest lines of the log. */
  readonly log: readonly string[];
}

/** After how many intervals of the slower fast source a calm checks whether everything is right. */
const LOOKS = [1.1, 2.2, 4, 8, 16];
/** A wait that no header names can be an hour. */
const MAX_CALM_MS = 75 * MINUTE;
const MAX_SCRAPES = 150;

/** Runs a story: trouble, then calm. It ends with the first thing that is wrong. */
export async function run(story: Story): Promise<Outcome> {
  const running = new Run(story);
  const onRejection = (error: unknown): void =>
    running.world.fail('program: no unhandled rejection', error instanceof Error ? (error.stack ?? '') : String(error));
  process.on('unhandledRejection', onRejection);
  try {
    return await running.toTheEnd();
  } finally {
    process.off('unhandledRejection', onRejection);
  }
}

class Run {
  readonly world: World;
  readonly #checks = ALWAYS.map((create) => create());
  #last: Scrape | undefined;
  #nextScrape: number;

  constructor(story: Story) {
    this.world = new World(story);
    this.#nextScrape = story.start;
  }

  async toTheEnd(): Promise<Outcome> {
    const { world } = this;
    const { start, lengthMs, events } = world.story;
    world.host.start();
    for (const event of events) {
      await this.#until(start + event.at);
      // Otherwise the trouble that now begins would excuse what was before it.
      this.#read();
      if (world.failure) break;
      applyEvent(event, world);
      await world.clock.advanceTo(world.clock.now());
      this.#look();
    }
    await this.#until(start + lengthMs);
    this.#read();
    if (!world.failure) await this.#calm();
    const { failure } = world;
    const log = world.host.process?.lines ?? [];
    return { failure, requests: world.traffic.requests, simulatedMs: world.clock.now() - start, log };
  }

  /** Scrapes as if by a Prometheus, but in a long story not as often. */
  async #until(end: number): Promise<void> {
    const { story, random } = this.world;
    const every = Math.max(5_000, story.lengthMs / MAX_SCRAPES);
    while (this.#nextScrape < end && !this.world.failure) {
      await this.#advance(this.#nextScrape);
      this.#look();
      this.#nextScrape += Math.round(every * (0.1 + 1.8 * random.unit()));
    }
    await this.#advance(end);
  }

  async #advance(end: number): Promise<void> {
    await this.world.clock.advanceTo(end, () => this.world.failure !== undefined);
  }

  async #calm(): Promise<void> {
    const { world } = this;
    world.calm();
    const { intervals } = world.exporter;
    const intervalMs = 1_000 * Math.max(60, intervals.machines, intervals.slashings);
    const waits = [...LOOKS.map((count) => count * intervalMs), MAX_CALM_MS + 4 * intervalMs];
    for (const [i, wait] of waits.entries()) {
      await this.#advance(world.calmSince + wait);
      this.#look();
      const scrape = this.#last;
      if (world.failure) return;
      if (scrape?.at !== world.clock.now()) return world.fail('recovery: it runs', world.host.lastEnd);
      const wrong = this.#checks.map((check) => [check.name, check.atEnd?.(world, scrape)] as const);
      const [name, message] = wrong.find(([, one]) => one !== undefined) ?? [];
      if (name === undefined || message === undefined) return;
      if (i === waits.length - 1) world.fail(name, message);
      else operate(world, scrape);
    }
  }

  #look(): void {
    const { world } = this;
    const { process } = world.host;
    this.#read();
    if (process?.program && !process.clock.isPaused && !process.isStopping) {
      const text = process.program.metrics();
      const times = { at: world.clock.now(), ownAt: process.clock.now() };
      const scrape: Scrape = { process: process.number, ...times, text, series: seriesIn(text) };
      this.#last = scrape;
      for (const check of this.#checks) this.#note(check.name, check.onScrape?.(scrape, world));
    }
  }

  /** Shows the checks what has happened since they were last asked. */
  #read(): void {
    const { world } = this;
    for (const event of world.traffic.take())
      for (const check of this.#checks) this.#note(check.name, check.onEvent?.(event, world));
    for (const check of this.#checks) this.#note(check.name, check.onMoment?.(world));
  }

  #note(check: string, wrong: string | undefined): void {
    if (wrong !== undefined) this.world.fail(check, wrong);
  }
}

/** A source that may not ask for longer than this waits for a quota or for a long refusal. */
const LONG_WAIT_SECONDS = 3_700;

/** What an operator does after a look at /metrics in the calm: only what the program cannot do by itself. */
function operate(world: World, scrape: Scrape): void {
  const now = scrape.ownAt / 1_000;
  const long = now + LONG_WAIT_SECONDS;
  const isLong = ([labels, at]: readonly [string, number, string]): boolean =>
    at > long && at < Number.POSITIVE_INFINITY && !/daily|committee/.test(labels);
  // A source can need two buckets. While one of them is used up, it is polled, but fails. The last answer of the bucket may
  // have named the reset of its second only.
  const isUsedUp = ([labels, at]: readonly [string, number, string]): boolean =>
    (at > long || at < now) && valueIn(scrape, 'beaconchain_ratelimit_remaining', `${labels},window="month"`) === 0;
  const isWaiting =
    seriesNamed(scrape, 'beaconchain_source_quota_wait_end_timestamp_seconds').some(([, at]) => at > long) ||
    seriesNamed(scrape, 'beaconchain_source_next_attempt_timestamp_seconds').some(isLong) ||
    seriesNamed(scrape, 'beaconchain_ratelimit_reset_timestamp_seconds').some(isUsedUp);
  const isBroken = valueIn(scrape, 'beaconchain_exporter_config_last_reload_successful') === 0;
  if (isWaiting) world.giveAnotherKey('key of the calm');
  else if (isBroken || valueIn(scrape, 'beaconchain_api_access_revoked') === 1) world.reload();
}
