import { between, unit } from '../../src/lib/random.ts';

export const ARRAYS = ['system', 'validator', 'node'] as const;
export type ArrayName = (typeof ARRAYS)[number];

export interface FleetOptions {
  readonly machines: number;
  readonly seed?: number;
  /** Share of minutes of which nothing of a machine was kept, and of which one array was not. */
  readonly missing?: { readonly machine?: number; readonly array?: number };
  /** Whether a page holds `page_size` records of each array, or of all together; nobody has documented it. */
  readonly pageSizeOver?: 'each' | 'all';
  /** How late the records of a machine come, milliseconds, by its number. */
  readonly lateMs?: (id: number) => number;
  /** Whether a record of half past a second is compared with the range as it is, or cut to the second. */
  readonly compares?: 'milliseconds' | 'seconds';
}

/** The body of a request for machine metrics. */
export interface FleetRequest {
  readonly range: { readonly timestamp: { readonly start: number; readonly end: number } };
  readonly machines?: readonly string[];
  readonly page_size: number;
  readonly cursor?: string;
}

interface Member {
  readonly name: string;
  readonly id: number;
  /** Milliseconds into each of its periods at which it pushes. */
  readonly phase: number;
  readonly everyMs: number;
  /** Unix ms; between them it pushes. */
  readonly spans: { from: number; until: number }[];
  /** Unix ms from which an array is not pushed any more. */
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
 * What the service knows of machines that push about once a minute, and how it hands it out: newest first, pages with cursors.
 * Made apart from the sandbox, so that each is a check on the other; minutes can be missing, and pushes take a while.
 */
export class Fleet {
  /** Every request, in order, with its time (Unix ms). */
  readonly requests: { readonly at: number; readonly body: FleetRequest }[] = [];
  readonly #seed: number;
  readonly #missing: { readonly machine?: number; readonly array?: number };
  readonly #pageSizeOver: 'each' | 'all';
  readonly #lateMs: (id: number) => number;
  readonly #unit: number;
  readonly #members = new Map<string, Member>();
  readonly #sequences = new Map<number, Sequence>();
  #begun = 0;

  constructor({
    machines,
    seed = 1,
    missing = {},
    pageSizeOver = 'each',
    compares = 'milliseconds',
    lateMs = () => 0,
  }: FleetOptions) {
    this.#lateMs = lateMs;
    this.#seed = seed;
    this.#missing = missing;
    this.#pageSizeOver = pageSizeOver;
    this.#unit = compares === 'milliseconds' ? 1 : 1_000;
    for (let i = 0; i < machines; i += 1) this.add(`m${i}`, Number.NEGATIVE_INFINITY);
  }

  get names(): string[] {
    return [...this.#members.keys()];
  }

  /** A machine that pushes from a moment (Unix ms) on. */
  add(name: string, from: number, everyMs = MINUTE): void {
    const id = this.#members.size;
    const phase = between(0, everyMs - 1, this.#seed, 1, id);
    this.#members.set(name, { name, id, phase, everyMs, spans: [{ from, until: Number.POSITIVE_INFINITY }], ends: {} });
  }

  /** The machine pushes nothing after `at`. */
  silence(name: string, at: number): void {
    const last = this.#member(name).spans.at(-1);
    if (last) last.until = at;
  }

  /** The machine goes on without one of its processes. */
  end(name: string, array: ArrayName, at: number): void {
    this.#member(name).ends[array] = at;
  }

  /** A silent machine pushes again from `at` on. */
  wake(name: string, at: number): void {
    this.#member(name).spans.push({ from: at, until: Number.POSITIVE_INFINITY });
  }

  /** Unix ms of the newest record of an array that had arrived at `now`, of the last hour. */
  newest(name: string, array: ArrayName, now: number): number | undefined {
    return this.#pushes(this.#member(name), array, now - 60 * MINUTE, now, now)[0]?.time;
  }

  /** Whether an array has a record of this second (Unix seconds), which has arrived at `now`. */
  has(name: string, array: ArrayName, seconds: number, now: number): boolean {
    const pushes = this.#pushes(this.#member(name), array, seconds * 1_000, seconds * 1_000 + 999, now);
    return pushes.some(({ time }) => Math.floor(time / 1_000) === seconds);
  }

  /** The body of the answer at `now`. @throws Error for a cursor with other filters than those it was given for. */
  answer(request: FleetRequest, now: number): string {
    this.requests.push({ at: now, body: request });
    const { cursor, page_size: size, ...filters } = request;
    const [id, offsets] = cursor === undefined ? this.#begin(filters, now) : readCursor(cursor);
    const sequence = this.#sequences.get(id);
    if (sequence?.filters !== JSON.stringify(filters)) throw new Error('a cursor of another sequence');
    const rest = ARRAYS.map((array, i) => sequence.pushes[array].slice(offsets[i], (offsets[i] ?? 0) + size));
    const taken = this.#pageSizeOver === 'each' ? rest.map(({ length }) => length) : newestOfAll(rest, size);
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

  /** Newest first, of a range with both ends. */
  #pushes(member: Member, array: ArrayName, start: number, end: number, now: number): Push[] {
    const { everyMs, phase } = member;
    const found: Push[] = [];
    for (let turn = Math.floor(Math.min(end + 1_000, now) / everyMs); (turn + 2) * everyMs > start; turn -= 1) {
      const time = turn * everyMs + phase + DELAY[array];
      const compared = Math.floor(time / this.#unit) * this.#unit;
      if (compared < start || compared > end || !this.#hasArrived(member, array, turn, time, now)) continue;
      found.push({ member, time });
    }
    return found;
  }

  #hasArrived({ id, spans, ends }: Member, array: ArrayName, turn: number, time: number, now: number): boolean {
    if (time > Math.min(now, ends[array] ?? now) || !spans.some(({ from, until }) => time >= from && time < until))
      return false;
    const { machine = 0, array: each = 0 } = this.#missing;
    if (unit(this.#seed, 2, id, turn) < machine) return false;
    if (unit(this.#seed, 3, id, turn, ARRAYS.indexOf(array)) < each) return false;
    return time + this.#lateMs(id) + unit(this.#seed, 4, id, turn) * MAX_WAY_MS <= now;
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

/** How many of each array are among the newest `size` of all. */
function newestOfAll(rest: readonly (readonly Push[])[], size: number): number[] {
  const taken = rest.map(() => 0);
  const all = rest.flatMap((pushes, i) => pushes.map(({ time }) => ({ time, i }))).sort((a, b) => b.time - a.time);
  for (const { i } of all.slice(0, size)) taken[i] = (taken[i] ?? 0) + 1;
  return taken;
}

/** A counter that says which push it came with. */
function recordOf({ member, time }: Push): object {
  const seconds = Math.floor(time / 1_000);
  return {
    timestamp: time,
    machine: member.name,
    cpu_node_user_seconds_total: seconds,
    cpu_process_seconds_total: seconds,
  };
}
