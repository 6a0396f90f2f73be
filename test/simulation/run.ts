import { HOUR } from '../support/timing.ts';
import { ALWAYS } from './always/index.ts';
import { operate } from './calm-operator.ts';
import { applyEvent } from './events/index.ts';
import type { ExporterProcess } from './exporter-process.ts';
import type { Scrape } from './scrape.ts';
import { seriesIn } from './scrape.ts';
import type { Failure } from './shrink-search.ts';
import type { RareState } from './sometimes.ts';
import { isLong, type Story } from './story.ts';
import { World } from './world.ts';

export interface Outcome {
  readonly failure: Failure | undefined;
  readonly reached: ReadonlySet<RareState>;
  readonly requests: number;
  readonly scrapes: number;
  /** How much time has passed in the story. */
  readonly simulatedMs: number;
  /** The newest lines of the logs, for a story that failed. */
  readonly log: readonly string[];
}

/** Calm lasts until everything is right, which is looked at after so many intervals of the slower of the fast sources. */
const LOOKS = [1.1, 2.2, 4, 8, 16];
/** A source that was refused (403) pauses for an hour. */
const MAX_CALM_MS = 75 * 60_000;
const MAX_SCRAPES = 150;
/** Otherwise a long story would spend much of its time on collecting garbage. */
const FORGET_MS = HOUR;

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

function canAnswer({ clock, isStopping }: ExporterProcess): boolean {
  return !clock.isPaused && !isStopping;
}

class Run {
  readonly world: World;
  readonly #checks = ALWAYS.map((create) => create());
  readonly #last = new Map<string, Scrape>();
  #scrapes = 0;

  constructor(story: Story) {
    this.world = new World(story);
  }

  async toTheEnd(): Promise<Outcome> {
    const { world } = this;
    const { start, lengthMs, events } = world.story;
    for (const host of world.hosts) host.start();
    const scrapes = this.#scrapeTimes();
    for (const event of events) {
      await this.#until(start + event.at, scrapes);
      // Otherwise the trouble that now begins would excuse what was before it.
      this.#read();
      if (world.failure) return this.#outcome();
      await applyEvent(event, world);
      await world.clock.advanceTo(world.clock.now());
      await this.#look();
    }
    await this.#until(start + lengthMs, scrapes);
    this.#read();
    if (!world.failure) await this.#calm();
    return this.#outcome();
  }

  async #until(end: number, scrapes: Iterator<number>): Promise<void> {
    const { world } = this;
    while (this.#nextScrape < end && !world.failure) {
      await this.#advance(this.#nextScrape);
      await this.#look();
      this.#nextScrape = scrapes.next().value ?? Number.POSITIVE_INFINITY;
    }
    await this.#advance(end);
  }

  #nextScrape = 0;

  async #advance(end: number): Promise<void> {
    await this.world.clock.advanceTo(end, () => this.world.failure !== undefined);
  }

  async #calm(): Promise<void> {
    const { world } = this;
    world.calm();
    const { intervals } = world.exporter;
    const begun = world.clock.now();
    const intervalMs = 1_000 * Math.max(60, intervals.machines, intervals.slashings);
    const waits = [...LOOKS.map((count) => count * intervalMs), MAX_CALM_MS + 4 * intervalMs];
    for (const [i, wait] of waits.entries()) {
      await this.#advance(begun + wait);
      await this.#look();
      const current = [...this.#last.values()].filter(({ at }) => at === world.clock.now());
      const wrong = this.#checks.map((check) => [check.name, check.atEnd?.(world, current)] as const);
      const first = wrong.find(([, message]) => message !== undefined);
      if (!first || world.failure) return;
      if (i === waits.length - 1) this.#note(...first);
      else operate(world, current);
    }
  }

  /** Scrapes every host that runs. */
  async #look(): Promise<void> {
    const { world } = this;
    const rendered = new Set<ExporterProcess>();
    if (isLong(world.story)) {
      for (const { process } of world.hosts) {
        if (process && canAnswer(process))
          process.exporter
            ?.engine()
            .touch()
            .then(() => rendered.add(process));
      }
      // A process may be killed meanwhile. What a slow disk has not yet taken is not yet shown.
      await world.clock.advanceTo(world.clock.now());
    }
    for (const host of world.hosts) {
      const exporter = host.process?.exporter;
      if (!host.process || !exporter || !canAnswer(host.process)) continue;
      if (isLong(world.story) && !rendered.has(host.process)) continue;
      this.#scrapes += 1;
      const text = Buffer.concat(exporter.engine().metrics('text', false)).toString();
      const { number: process, clock } = host.process;
      const scrape: Scrape = {
        host: host.name,
        process,
        at: world.clock.now(),
        ownAt: clock.now(),
        text,
        series: seriesIn(text),
      };
      this.#last.set(host.name, scrape);
      for (const check of this.#checks) this.#note(check.name, check.onScrape?.(scrape, world));
    }
    this.#read();
    const oldest = world.clock.now() - FORGET_MS;
    world.traffic.forgetBefore(oldest);
    world.service.records.forgetBefore(oldest);
  }

  /** Shows the checks what has happened since they were last asked. */
  #read(): void {
    for (const check of this.#checks) this.#note(check.name, check.onMoment?.(this.world));
  }

  #note(check: string, wrong: string | undefined): void {
    if (wrong !== undefined) this.world.fail(check, wrong);
  }

  /** Times of scrapes: as if by a Prometheus, but in a long story not as often. */
  *#scrapeTimes(): Generator<number, undefined> {
    const { random, story } = this.world;
    const scrapes = random.fork('scrapes');
    const every = Math.max(5_000, story.lengthMs / MAX_SCRAPES);
    for (let at = story.start; ; at += every * (0.1 + 1.8 * scrapes.unit())) yield Math.round(at);
  }

  #outcome(): Outcome {
    const { world } = this;
    const log = world.hosts.flatMap((host) =>
      (host.process?.lines ?? []).map((line) => `${host.name} ${line.trimEnd()}`),
    );
    return {
      failure: world.failure,
      reached: world.reached,
      requests: world.service.records.count,
      scrapes: this.#scrapes,
      simulatedMs: world.elapsed,
      log,
    };
  }
}
