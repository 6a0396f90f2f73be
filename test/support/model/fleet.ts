import { between, unit } from '../../../src/toolkit/lib/random.ts';

export const ARRAYS = ['system', 'validator', 'node'] as const;
export type ArrayName = (typeof ARRAYS)[number];

export interface FleetOptions {
  readonly machines: number;
  readonly seed?: number;
  /** Share of the minutes for which the service kept nothing of a machine, or not one of its arrays. */
  readonly missing?: { readonly machine?: number; readonly array?: number };
  /** Whether `page_size` limits each array or all together. The API documentation does not say. */
  readonly pageSizeOver?: 'each' | 'all';
  /** A page has no more records of an array than this, whatever was requested. */
  readonly longestPage?: number;
  /** Milliseconds by which the records of a machine are late, by its number. */
  readonly lateMs?: (id: number) => number;
  /** Whether the time of a record is compared with the range in milliseconds, or in whole seconds. */
  readonly compares?: 'milliseconds' | 'seconds';
}

/** The body of a request for machine metrics. */
export interface FleetRequest {
  readonly range: { readonly timestamp: { readonly start: number; readonly end: number } };
  readonly machines?: readonly string[];
  readonly page_size: number;
  readonly cursor?: string;
}

interface Span {
  readonly from: number;
  until: number;
}

interface Member {
  readonly name: string;
  readonly id: number;
  /** When it pushes in each of its periods, milliseconds from the start of the period. */
  readonly phase: number;
  readonly everyMs: number;
  /** When it pushes, Unix ms. */
  readonly spans: Span[];
  /** When it stops to push an array, Unix ms. */
  readonly ends: Partial<Record<ArrayName, number>>;
}

interface Push {
  readonly member: Member;
  /** Unix ms. */
  readonly time: number;
}

interface Sequence {
  readonly filters: string;
  readonly pushes: Readonly<Record<ArrayName, readonly Push[]>>;
}

const MINUTE = 60_000;
const DELAY: Record<ArrayName, number> = { system: 0, validator: 40, node: 85 };
const MAX_WAY_MS = 2_000;

/**
 * Machines that push about once a minute, and how the service returns their records: newest first, in pages with
 * cursors. They are independent of the sandbox, so that each checks the other. Minutes can be missing. Pushes are late.
 */
export class Fleet {
  /** Every request, in order, with its time (Unix ms). */
  readonly requests: { readonly at: number; readonly body: FleetRequest }[] = [];
  readonly #options: Required<FleetOptions>;
  readonly #members = new Map<string, Member>();
  readonly #sequences = new Map<number, Sequence>();
  #begun = 0;

  constructor(options: FleetOptions) {
    this.#options = {
      seed: 1,
      missing: {},
      pageSizeOver: 'each',
      longestPage: Number.POSITIVE_INFINITY,
      compares: 'milliseconds',
      lateMs: () => 0,
      ...options,
    };
    for (let i = 0; i < options.machines; i += 1) this.add(`m${i}`, Number.NEGATIVE_INFINITY);
  }

  get names(): string[] {
    return [...this.#members.keys()];
  }

  /** Adds a machine that pushes from a time (Unix ms) on. */
  add(name: string, from: number, everyMs = MINUTE): void {
    const id = this.#members.size;
    const phase = between(0, everyMs - 1, this.#options.seed, 1, id);
    this.#members.set(name, { name, id, phase, everyMs, spans: [{ from, until: Number.POSITIVE_INFINITY }], ends: {} });
  }

  /** The machine pushes nothing after `at`. */
  silence(name: string, at: number): void {
    const last = this.lastSpan(name);
    last.until = Math.min(last.until, at);
  }

  /** The machine pushes this array no more after `at`. */
  end(name: string, array: ArrayName, at: number): void {
    this.#member(name).ends[array] = at;
  }

  /** A silent machine pushes again from `at` on. */
  wake(name: string, at: number): void {
    if (this.lastSpan(name).until > at) return;
    this.#member(name).spans.push({ from: at, until: Number.POSITIVE_INFINITY });
  }

  /** When a machine last began to push, and when it stops, Unix ms. */
  lastSpan(name: string): Span {
    const span = this.#member(name).spans.at(-1);
    if (!span) throw new RangeError(`${name} never pushes`);
    return span;
  }

  /** The time of the newest record of an array in the last hour that has arrived by `now`, Unix ms. */
  newest(name: string, array: ArrayName, now: number): number | undefined {
    return this.#pushes(this.#member(name), array, now - 60 * MINUTE, now, now)[0]?.time;
  }

  /** Whether an array has a record of this second (Unix seconds) that has arrived by `now`. */
  has(name: string, array: ArrayName, seconds: number, now: number): boolean {
    const pushes = this.#pushes(this.#member(name), array, seconds * 1_000, seconds * 1_000 + 999, now);
    return pushes.some(({ time }) => Math.floor(time / 1_000) === seconds);
  }

  /** The names that the service lists at `now`: those of machines with a record in the last five hours. */
  listed(now: number): string[] {
    const start = now - 300 * MINUTE;
    const found = [...this.#members.values()].filter((one) => this.#pushes(one, 'system', start, now, now).length > 0);
    return found.map(({ name }) => name);
  }

  /** The body of the answer at `now`. @throws Error for a cursor with other filters than those it was given for. */
  answer(request: FleetRequest, now: number): string {
    this.requests.push({ at: now, body: request });
    const { cursor, page_size, ...filters } = request;
    const size = Math.min(page_size, this.#options.longestPage);
    const [id, offsets] = cursor === undefined ? this.#begin(filters, now) : readCursor(cursor);
    const sequence = this.#sequences.get(id);
    if (sequence?.filters !== JSON.stringify(filters)) throw new Error('a cursor of another sequence');
    const rest = ARRAYS.map((array, i) => sequence.pushes[array].slice(offsets[i], (offsets[i] ?? 0) + size));
    const taken = this.#options.pageSizeOver === 'each' ? rest.map(({ length }) => length) : newestOfAll(rest, size);
    const next = ARRAYS.map((_, i) => (offsets[i] ?? 0) + (taken[i] ?? 0));
    const isEnd = ARRAYS.every((array, i) => (next[i] ?? 0) >= sequence.pushes[array].length);
    if (isEnd) this.#sequences.delete(id);
    const data = ARRAYS.map((array, i) => [`${array}_metrics`, rest[i]?.slice(0, taken[i]).map(recordOf)]);
    return JSON.stringify({
      data: Object.fromEntries(data),
      paging: { next_cursor: isEnd ? '' : `${id}:${next.join(':')}` },
    });
  }

  #begin(filters: Omit<FleetRequest, 'cursor' | 'page_size'>, now: number): [id: number, offsets: number[]] {
    const { start, end } = filters.range.timestamp;
    const members = filters.machines
      ? filters.machines.flatMap((name) => this.#members.get(name) ?? [])
      : [...this.#members.values()];
    const select = (array: ArrayName): Push[] =>
      members
        .flatMap((member) => this.#pushes(member, array, start * 1_000, end * 1_000, now))
        .sort((a, b) => b.time - a.time || (a.member.name < b.member.name ? -1 : 1));
    const pushes = { system: select('system'), validator: select('validator'), node: select('node') };
    this.#begun += 1;
    this.#sequences.set(this.#begun, { filters: JSON.stringify(filters), pushes });
    return [this.#begun, [0, 0, 0]];
  }

  /** The pushes of an inclusive range, newest first. */
  #pushes(member: Member, array: ArrayName, start: number, end: number, now: number): Push[] {
    const { everyMs, phase } = member;
    const unitMs = this.#options.compares === 'milliseconds' ? 1 : 1_000;
    const found: Push[] = [];
    for (let turn = Math.floor(Math.min(end + 1_000, now) / everyMs); (turn + 2) * everyMs > start; turn -= 1) {
      const time = turn * everyMs + phase + DELAY[array];
      const compared = Math.floor(time / unitMs) * unitMs;
      if (compared < start || compared > end || !this.#hasArrived(member, array, turn, time, now)) continue;
      found.push({ member, time });
    }
    return found;
  }

  #hasArrived({ id, spans, ends }: Member, array: ArrayName, turn: number, time: number, now: number): boolean {
    if (time > Math.min(now, ends[array] ?? now) || !spans.some(({ from, until }) => time >= from && time < until))
      return false;
    const { seed, lateMs, missing } = this.#options;
    const { machine = 0, array: each = 0 } = missing;
    if (unit(seed, 2, id, turn) < machine) return false;
    if (unit(seed, 3, id, turn, ARRAYS.indexOf(array)) < each) return false;
    return time + lateMs(id) + unit(seed, 4, id, turn) * MAX_WAY_MS <= now;
  }

  #member(name: string): Member {
    const member = this.#members.get(name);
    if (!member) throw new RangeError(`no machine is called ${name}`);
    return member;
  }
}

function readCursor(cursor: string): [id: number, offsets: number[]] {
  const [id = -1, ...offsets] = cursor.split(':').map(Number);
  return [id, offsets];
}

/** How many records of each array are among the newest `size` of all. */
function newestOfAll(rest: readonly (readonly Push[])[], size: number): number[] {
  const taken = rest.map(() => 0);
  const all = rest.flatMap((pushes, i) => pushes.map(({ time }) => ({ time, i }))).sort((a, b) => b.time - a.time);
  for (const { i } of all.slice(0, size)) taken[i] = (taken[i] ?? 0) + 1;
  return taken;
}

/** A record whose counters are its time in seconds, so that a value shows which push it is from. */
function recordOf({ member, time }: Push): object {
  const seconds = Math.floor(time / 1_000);
  return {
    timestamp: time,
    machine: member.name,
    cpu_node_user_seconds_total: seconds,
    cpu_process_seconds_total: seconds,
  };
}
