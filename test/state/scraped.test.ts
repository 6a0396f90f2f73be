import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OTHER_CLOCK_SECONDS, recordTest } from '../../src/backfill/covered.ts';
import { scrapesOf } from '../../src/commands/backfill-scraped.ts';
import { datapoints, newestDay } from '../../src/sandbox/daily-returns-data.ts';
import { noteScraped, shownAgain } from '../../src/scheduler/plan.ts';
import { dailyReturnsSource } from '../../src/sources/daily-returns/index.ts';
import { Datapoint } from '../../src/sources/daily-returns/schema.ts';
import { machinesSource } from '../../src/sources/machines/index.ts';
import type { Machine, Machines } from '../../src/sources/machines/schema.ts';
import type { Source } from '../../src/sources/source.ts';
import { type Entry, emptyEntry } from '../../src/state/entry.ts';
import { afterStart, endOfScrapes, type Scraped, withScraped } from '../../src/state/scraped.ts';
import { cases, PATIENT } from '../support/fuzz.ts';
import { machinesOptions } from '../support/machine-records.ts';
import { MINUTE, NOW, timing } from '../support/timing.ts';

const source = machinesSource(machinesOptions(), () => undefined);
const FAMILIES = {
  system: 'beaconchain_machine_cpu_user_seconds_total',
  validator: 'beaconchain_machine_process_cpu_seconds_total',
} as const;
type Process = keyof typeof FAMILIES;
const PROCESSES = ['system', 'validator'] as const;
const SCRAPE_EVERY = 15;

/** A machine that pushes once a minute. Times are seconds since the test began. */
interface Pushing {
  /** Its clock is ahead by this. */
  readonly ahead: number;
  /** How long the service takes to have a record. */
  readonly lag: number;
  /** How much longer it takes for one of the validator client; undefined: none runs there. */
  readonly validatorLag?: number | undefined;
  readonly from: number;
  /** It is silent for a while. */
  readonly silent: { readonly from: number; readonly seconds: number };
}

/** What the exporter does for a while, in seconds. `offline`: it is scraped, but no poll is answered. */
interface Phase {
  readonly does: 'polls' | 'offline' | 'stopped' | 'killed';
  readonly seconds: number;
  readonly backfill: boolean;
  /** From its begin on, by a reload or a start; default: as before. */
  readonly settings?: Settings | undefined;
}

interface Settings {
  readonly staleAfterMs: number | 'auto';
  readonly timestamps: boolean;
  /** Between polls, and how long each takes; seconds. */
  readonly every: number;
  readonly takes: number;
}

interface Polling {
  readonly began: number;
  readonly settings: Settings;
}

const USUAL: Settings = { staleAfterMs: 'auto', timestamps: false, every: 60, takes: 0 };

const START = NOW / 1000;

interface Pushed {
  readonly process: Process;
  readonly at: number;
  readonly arrives: number;
}

function recordsOf(machine: Pushing, until: number): Pushed[] {
  const records: Pushed[] = [];
  for (let time = machine.from; time < until; time += 60) {
    const isSilent = time >= machine.silent.from && time < machine.silent.from + machine.silent.seconds;
    if (isSilent) continue;
    const at = START + time + machine.ahead;
    const arrives = START + time + machine.lag;
    records.push({ process: 'system', at, arrives });
    if (machine.validatorLag === undefined) continue;
    records.push({ process: 'validator', at: at + 1, arrives: arrives + 1 + machine.validatorLag });
  }
  return records;
}

/** Lives through the phases. Tells what Prometheus has of each machine and process: scraped and backfilled, by time. */
class Life {
  readonly #machines: ReadonlyMap<string, ReturnType<typeof recordsOf>>;
  readonly #prometheusAhead: number;
  readonly samples = new Map<string, Map<number, number>>();
  #now = START;
  #entry: Entry<Machines> = emptyEntry(source);
  #stoppedAt: number | undefined;
  #settings = USUAL;
  #isPolledSince = true;
  #isBackfilled = false;
  #source = source;
  /** The poll in progress, which ends with the settings with which it began. */
  #polling: Polling | undefined;
  readonly #lastScraped = new Map<string, number>();

  constructor(machines: readonly Pushing[], total: number, prometheusAhead: number) {
    this.#machines = new Map(machines.map((machine, i) => [`m${i}`, recordsOf(machine, total)]));
    this.#prometheusAhead = prometheusAhead;
  }

  live({ does, seconds, backfill, settings = this.#settings }: Phase): void {
    const end = this.#now + seconds;
    const isUp = does === 'polls' || does === 'offline';
    // Settings that no poll has seen are not noted anywhere. Others after a backfill can show values that are older than its.
    if (this.#isPolledSince && !this.#isBackfilled) {
      this.#isPolledSince = settings === this.#settings;
      this.#settings = settings;
    }
    const { staleAfterMs, timestamps, every } = this.#settings;
    const intervalMs = every * 1000;
    this.#source = machinesSource(machinesOptions({ staleAfterMs, timestamps, intervalMs }), () => undefined);
    if (isUp && this.#isDown) this.#begin();
    if (!isUp && !this.#isDown) {
      this.#stoppedAt = does === 'stopped' ? this.#now * 1000 : undefined;
      this.#isDown = true;
    }
    if (does !== 'polls') this.#polling = undefined;
    for (; this.#now < end; this.#now += SCRAPE_EVERY) {
      if (does === 'polls') this.#poll();
      if (isUp) this.#scrape();
    }
    if (backfill) this.#backfill();
  }

  #isDown = true;

  #begin(): void {
    this.#isDown = false;
    const known = new Map([['machines', this.#entry as Entry]]);
    const again = shownAgain(known, [this.#source], this.#stoppedAt, this.#now * 1000);
    this.#entry = again.get('machines') as Entry<Machines>;
    this.#stoppedAt = undefined;
  }

  /** It publishes at its end. */
  #poll(): void {
    const { lastAttemptAt = Number.NEGATIVE_INFINITY } = this.#entry;
    const isDue = this.#now * 1000 >= lastAttemptAt + this.#settings.every * 1000;
    if (isDue) this.#polling ??= { began: this.#now, settings: this.#settings };
    if (!this.#polling || this.#now < this.#polling.began + this.#polling.settings.takes) return;
    this.#publish(this.#polling);
    this.#polling = undefined;
  }

  #publish({ began, settings }: Polling): void {
    this.#isPolledSince ||= settings === this.#settings;
    const now = this.#now;
    const machines = [...this.#machines].flatMap(([name, records]): Machine[] => {
      const before = this.#entry.value.machines.find((one) => one.name === name);
      const found: Record<string, unknown> = {};
      for (const process of PROCESSES) {
        // Only what came in the last minutes, as a sweep reads it.
        const newest = records.findLast(
          (one) => one.process === process && one.arrives <= now && one.at > began - 300 && one.at <= began + 300,
        );
        const at = Math.max(newest?.at ?? 0, before?.[process]?.timestamp ?? 0);
        const value = { cpu_node_user_seconds_total: at, cpu_process_seconds_total: at };
        if (at > 0) found[process] = { timestamp: at, ...value };
      }
      return Object.keys(found).length === 0 ? [] : [{ name, ...found }];
    });
    const intervalMs = settings.every * 1000;
    const after: Entry = {
      ...this.#entry,
      value: { machines, dropped: 0 },
      attempts: this.#entry.attempts + 1,
      lastAttemptAt: began * 1000,
      durationMs: (now - began) * 1000,
      intervalMs,
    };
    const at = timing({ now: began * 1000, intervalMs });
    this.#entry = noteScraped(this.#source, this.#entry, after, at) as Entry<Machines>;
  }

  #scrape(): void {
    const at = timing({ now: this.#now * 1000, intervalMs: this.#settings.every * 1000 });
    const families = this.#source.families(this.#entry.value, at);
    for (const process of PROCESSES) {
      for (const sample of families.find(({ name }) => name === FAMILIES[process])?.samples ?? []) {
        const { labels, value } = sample;
        if (process === 'validator' && labels['process'] !== 'validator') continue;
        const key = `${labels['machine']} ${process}`;
        const time = sample.at ?? this.#now + this.#prometheusAhead;
        // Prometheus refuses what is older than its newest sample of the series.
        if (time <= (this.#lastScraped.get(key) ?? 0)) continue;
        this.#lastScraped.set(key, time);
        this.#add(key, time, Number(value));
      }
    }
  }

  #backfill(): void {
    this.#isBackfilled = true;
    const now = this.#now;
    const covered = scrapesOf(this.#source as Source, this.#entry, this.#stoppedAt, now * 1000);
    const isScraped = covered === 'never' ? () => false : recordTest(covered);
    for (const [name, records] of this.#machines) {
      for (const { process, at, arrives } of records) {
        if (arrives <= now && at <= now - OTHER_CLOCK_SECONDS && !isScraped(name, at)) {
          this.#add(`${name} ${process}`, at, at);
        }
      }
    }
  }

  #add(key: string, at: number, value: number): void {
    const series = this.samples.get(key) ?? new Map<number, number>();
    this.samples.set(key, series.set(at, value));
  }

  /** By time. */
  series(key: string): [at: number, value: number][] {
    return [...(this.samples.get(key) ?? [])].toSorted(([a], [b]) => a - b);
  }
}

const pushing = fc.record({
  ahead: fc.constantFrom(0, 0, 3.7, -40, -170, 95, 240),
  lag: fc.constantFrom(1, 1, 5, 70, 200),
  validatorLag: fc.constantFrom(undefined, 0, 20, 90, 190),
  from: fc.constantFrom(0, 0, 7, 1_900, 5_000),
  silent: fc.record({ from: fc.nat(12_000), seconds: fc.constantFrom(0, 0, 130, 500, 700, 3_000) }),
});
const phase = fc.record({
  does: fc.constantFrom('polls', 'polls', 'offline', 'stopped', 'killed'),
  seconds: fc.integer({ min: 1, max: 200 }).map((count) => count * SCRAPE_EVERY),
  backfill: fc.boolean(),
  settings: fc.option(
    fc.record({
      staleAfterMs: fc.constantFrom('auto' as const, 5 * MINUTE, 60 * MINUTE),
      timestamps: fc.constantFrom(false, false, true),
      every: fc.constantFrom(60, 60, 300, 1_800),
      takes: fc.constantFrom(0, 0, 45, 150),
    }),
    { nil: undefined },
  ),
});

function run(machines: readonly Pushing[], phases: readonly Phase[], prometheusAhead = 0): Life {
  const total = phases.reduce((sum, { seconds }) => sum + seconds, 0);
  const life = new Life(machines, total, prometheusAhead);
  for (const one of phases) life.live(one);
  return life;
}

const STEADY: Pushing = { ahead: 0, lag: 2, from: 7, silent: { from: 0, seconds: 0 } };

/** The longest time without a sample. */
function longestGap(series: readonly [number, number][]): number {
  return Math.max(...series.slice(1).map(([at], i) => at - (series[i]?.[0] ?? at)));
}

describe('state/scraped', PATIENT, () => {
  it('a counter never steps back, whatever the exporter did and whenever a backfill ran', () => {
    fc.assert(
      fc.property(
        fc.array(pushing, { minLength: 1, maxLength: 5 }),
        fc.array(phase, { minLength: 1, maxLength: 8 }),
        fc.constantFrom(0, 0, 20, -20),
        (machines, phases, prometheusAhead) => {
          const life = run(machines, phases, prometheusAhead);
          for (const name of life.samples.keys()) {
            const series = life.series(name);
            for (const [i, [at, value]] of series.entries()) {
              const [, before] = series[i - 1] ?? [0, 0];
              expect(value, `${name} at ${at - START}`).toBeGreaterThanOrEqual(before);
            }
          }
        },
      ),
      cases(300),
    );
  });

  it.each([
    [
      'before the first poll',
      [
        ['stopped', 7_200],
        ['polls', 3_600, true],
      ],
      150,
    ],
    [
      'while the exporter was stopped',
      [
        ['polls', 1_800],
        ['stopped', 3_600],
        ['polls', 600, true],
      ],
      180,
    ],
    [
      'after it stopped',
      [
        ['polls', 1_800],
        ['stopped', 3_600, true],
        ['polls', 600],
      ],
      180,
    ],
    [
      'while no poll was answered',
      [
        ['polls', 1_800],
        ['offline', 3_600],
        ['polls', 600, true],
      ],
      180,
    ],
    [
      'from ten minutes after it was killed',
      [
        ['polls', 1_800],
        ['killed', 3_600],
        ['polls', 600, true],
      ],
      840,
    ],
  ] as const)('a backfill fills the time %s', (_, phases, most) => {
    const lived = phases.map(([does, seconds, backfill = false]): Phase => ({ does, seconds, backfill }));
    const life = run([STEADY, { ...STEADY, from: 31 }], lived);
    for (const name of ['m0 system', 'm1 system'])
      expect(longestGap(life.series(name)), name).toBeLessThanOrEqual(most);
  });

  it('an end of the process that is older than the last poll is that of another process', () => {
    const value = { machines: [{ name: 'a', system: { timestamp: START } }], dropped: 0 };
    const entry = { value, lastAttemptAt: NOW };
    const later = NOW + 60 * MINUTE;
    expect(endOfScrapes(source, entry, NOW + MINUTE, later)).toBe(START + 60);
    expect(endOfScrapes(source, entry, NOW - MINUTE, later)).toBe(START + 600);
    expect(endOfScrapes(source, entry, NOW + MINUTE, NOW + 9 * MINUTE)).toBeUndefined();
  });

  it('samples with the time of their record need nothing left out, from the change of the setting on', () => {
    const timed = machinesSource(machinesOptions({ timestamps: true }), () => undefined);
    const value = { machines: [{ name: 'a', system: { timestamp: START } }], dropped: 0 };
    const entry = { value, lastAttemptAt: NOW };
    expect(withScraped(timed, { value: source.empty }, value, timing())).toEqual({ ended: [] });
    const before = withScraped(source, { value: source.empty }, value, timing());
    expect(before).toEqual({ ended: [], current: { start: START, first: [], until: START + 600 } });
    const changed = { ...entry, ...(before && { scraped: before }) };
    const at = timing({ now: NOW + MINUTE });
    expect(withScraped(timed, changed, value, at)).toEqual({ ended: [{ start: START, end: START + 60 + 300 }] });
  });

  it('what an earlier version polled began at an unknown time', () => {
    const value = { machines: [{ name: 'a', system: { timestamp: START } }], dropped: 0 };
    expect(withScraped(source, { value }, value, timing())).toEqual({
      ended: [],
      current: { start: 0, first: [], until: START + 600 },
    });
    const later = timing({ now: NOW + 60 * MINUTE });
    const again = { machines: [{ name: 'a', system: { timestamp: START + 3_590 } }], dropped: 0 };
    expect(withScraped(source, { value }, again, later)).toEqual({
      ended: [{ start: 0, end: START + 600 }],
      current: { start: START + 3_600, first: [['a', START + 3_590]], until: START + 4_190 },
    });
  });

  it('of so many interruptions that nobody counts them the oldest become one', () => {
    let scraped: Scraped | undefined;
    let before = source.empty;
    for (let i = 0; i < 103; i += 1) {
      const value = { machines: [{ name: 'a', system: { timestamp: START + 3_600 * i } }], dropped: 0 };
      const at = timing({ now: NOW + 60 * MINUTE * i });
      scraped = withScraped(source, { value: before, ...(scraped && { scraped }) }, value, at);
      before = value;
    }
    expect(scraped?.ended).toHaveLength(100);
    expect(scraped?.ended[0]).toEqual({ start: START, end: START + 2 * 3_600 + 600 });
  });

  it('daily returns are scraped until the process stops; one that was killed had polled within a day', () => {
    const daily = dailyReturnsSource({ chain: 'mainnet', intervalMs: 60 * MINUTE, weight: 1, path: 'auto' });
    const newest = Datapoint.parse(datapoints(1, 'mainnet', newestDay('mainnet', NOW), newestDay('mainnet', NOW))[0]);
    const scraped = withScraped(daily, { value: {} }, { newest }, timing());
    expect(scraped).toEqual({ ended: [], current: { start: START, first: [] } });
    const entry = { value: { newest }, lastAttemptAt: NOW, ...(scraped && { scraped }) };
    const later = NOW + 5_000 * MINUTE;
    expect(endOfScrapes(daily, entry, undefined, later)).toBeUndefined();
    expect(afterStart(daily, entry, NOW + MINUTE, later)).toEqual({ ended: [{ start: START, end: START + 60 }] });
    expect(afterStart(daily, entry, undefined, later)).toEqual({ ended: [{ start: START, end: START }] });
  });
});
