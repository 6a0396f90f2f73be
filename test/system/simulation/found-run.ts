import { unit } from '../../../src/lib/random.ts';
import { Sandbox } from '../../../src/sandbox/world.ts';
import type { SourceView } from '../../../src/scheduler/views.ts';
import { sourceId } from '../../../src/state/entry.ts';
import { BOTH_CHAINS } from '../../support/default-config.ts';
import { Fleet } from '../../support/fleet.ts';
import { configured } from '../../support/month.ts';
import { Simulation, type SimulationOptions } from '../../support/simulation.ts';
import { DAY } from '../../support/timing.ts';
import type { Life } from './found-life.ts';
import { pastOf } from './found-past.ts';
import type { LifeSeen, Moment, PollSeen, Told } from './found-seen.ts';

interface Happening {
  readonly at: number;
  readonly happens: () => void | Promise<void>;
}

const MOMENTS = 50;
const MAX_VISITS = 60;

/** Runs one random life of the real program, from scheduler to client, on virtual time. */
export function live(life: Life): Promise<LifeSeen> {
  return new Living(life).run();
}

class Living {
  readonly #life: Life;
  readonly #fleet: Fleet;
  readonly #began = new Map<string, number>();
  readonly #sandbox: Sandbox;
  readonly #takenBefore: number;
  readonly #sources;
  readonly #sim: Simulation;
  readonly #polls: PollSeen[] = [];
  readonly #counted = new Map<string, number>();
  readonly #moments: Moment[] = [];
  readonly #spent: { at: number; requests: number }[] = [];
  #draws = 0;

  constructor(life: Life) {
    const { machines, seed, lag, limits, start, chains } = life;
    this.#life = life;
    this.#fleet = new Fleet({
      machines,
      seed,
      lateMs: (id) => (lag.ofAll || id % 25 === 2 ? lag.ms : 0),
    });
    for (const name of this.#fleet.names) this.#began.set(name, Number.NEGATIVE_INFINITY);
    this.#sandbox = new Sandbox({ start, plan: limits, machines: 0, slotsPerSlashing: Number.POSITIVE_INFINITY });
    this.#sources = configured(chains === 2 ? BOTH_CHAINS : {});
    const past = pastOf(life);
    this.#takenBefore = past.taken;
    if (past.own + past.taken > 0) this.#sandbox.spend(past.own + past.taken, start - 2_000);
    this.#sim = new Simulation({
      ...this.#options(),
      start,
      sandbox: this.#sandbox,
      sources: this.#sources,
      ...(past.ledger ? { ledger: past.ledger } : {}),
    });
  }

  async run(): Promise<LifeSeen> {
    for (const { at, happens } of this.#happenings()) {
      await this.#sim.clock.advance(Math.max(0, at - this.#sim.clock.now()));
      await happens();
    }
    await this.#sim.stop();
    const polls = this.#polls.toSorted((a, b) => a.at - b.at);
    return { polls, moments: this.#moments, exchanges: this.#sim.exchanges };
  }

  #options(): Pick<SimulationOptions, 'budgetOptions' | 'way' | 'instead' | 'onChange' | 'sleepsLong'> {
    return {
      sleepsLong: true,
      budgetOptions: { utilization: this.#life.utilization },
      way: () => {
        const latency = 20 + (this.#life.latencyMs - 20) * this.#random();
        const there = latency * this.#random();
        return [there, latency - there];
      },
      instead: (path, body, now) =>
        path.endsWith('/machine-metrics') ? this.#fleet.answer(JSON.parse(body), now) : undefined,
      onChange: (source) => this.#note(this.#sim.view(sourceId(source))),
    };
  }

  #random(): number {
    this.#draws += 1;
    return unit(this.#life.seed, this.#draws);
  }

  #note({ source, entry }: SourceView): void {
    const id = sourceId(source);
    const { lastAttemptAt: at, durationMs, intervalMs: toldMs, failuresInARow, lastError } = entry;
    if (at === undefined || this.#counted.get(id) === at) return;
    this.#counted.set(id, at);
    this.#polls.push({ id, at, end: at + durationMs, toldMs, ok: failuresInARow === 0, reason: lastError?.reason });
  }

  /** All outside events, in order. */
  #happenings(): Happening[] {
    const { start, end, newcomers } = this.#life;
    const at = (part: number): number => Math.round(start + part * (end - start));
    const all: Happening[] = [...this.#visits()];
    for (let i = 1; i <= MOMENTS; i += 1) {
      all.push({ at: at((i - this.#random()) / MOMENTS), happens: () => this.#look() });
    }
    for (const [i, part] of newcomers.entries()) {
      const name = `new-${i}`;
      const happens = (): void => {
        this.#fleet.add(name, at(part));
        this.#began.set(name, at(part));
      };
      all.push({ at: at(part), happens });
    }
    all.push({ at: end - 1, happens: () => this.#look() });
    return all.filter((one) => one.at < end).sort((a, b) => a.at - b.at);
  }

  /** The requests of others. */
  #visits(): Happening[] {
    const { start, end, others, othersPerDay, limits } = this.#life;
    const { kind, share, at } = others;
    if (kind === 'none') return [];
    const turn = start + at * (end - start);
    const spend = (requests: number): void => {
      if (requests < 1) return;
      const now = this.#sim.clock.now();
      this.#sandbox.spend(requests, now);
      this.#spent.push({ at: now, requests });
    };
    if (kind === 'bursts') {
      const most = limits.perMonth === undefined ? limits.perSecond : share * limits.perMonth;
      return [{ at: turn, happens: () => spend(Math.round(most / 3)) }];
    }
    const from = kind === 'begins' ? turn : start;
    const until = kind === 'ends' ? turn : end;
    const requests = (othersPerDay * (until - from)) / DAY;
    const visits = Math.max(1, Math.min(MAX_VISITS, Math.floor(requests)));
    return Array.from({ length: visits }, (_, i) => ({
      at: Math.round(from + ((i + 0.5) / visits) * (until - from)),
      happens: () => spend(Math.floor(((i + 1) * requests) / visits) - Math.floor((i * requests) / visits)),
    }));
  }

  #look(): void {
    const at = this.#sim.clock.now();
    const views = this.#sim.scheduler.views();
    const told = views.map(({ source, pace }): [string, Told] => [
      sourceId(source),
      {
        intervalMs: pace.intervalMs,
      },
    ]);
    const shown = new Map(views.flatMap((view) => (view.source.name === 'machines' ? shownIn(view) : [])));
    const { limits, utilization, monthEnd } = this.#life;
    const { perMonth = Number.POSITIVE_INFINITY } = limits;
    const { monthEndsAt, inMonth } = this.#sandbox.account;
    const used = at < monthEndsAt ? inMonth : 0;
    const isBefore = (one: { at: number }): boolean => at < monthEnd === one.at < monthEnd;
    const theirs = this.#spent
      .filter(isBefore)
      .reduce((sum, { requests }) => sum + requests, at < monthEnd ? this.#takenBefore : 0);
    this.#moments.push({
      at,
      sources: new Map(told),
      ours: Math.min(perMonth - used, Math.floor(perMonth * utilization) - (used - theirs)),
      shown,
      living: new Map(this.#began),
    });
  }
}

/** The shown machines, with the time of their record in seconds. */
function shownIn({ source, entry, timing }: SourceView): [name: string, second: number][] {
  const family = source
    .families(entry.value, timing)
    .find(({ name }) => name === 'beaconchain_machine_cpu_user_seconds_total');
  return (family?.samples ?? []).map(({ labels, value }) => [labels['machine'] ?? '', value]);
}
