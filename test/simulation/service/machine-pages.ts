import { unit } from '../../../src/lib/random.ts';
import { ARRAYS, type ArrayName, fieldsOf, type Machines, type Push } from './machines.ts';
import type { ServiceSetting } from './setting.ts';

interface Asked {
  readonly range: { readonly timestamp: { readonly start: number; readonly end: number } };
  readonly machines?: readonly string[];
  readonly page_size?: number;
  readonly cursor?: string;
}

/** Where the next page begins: what had arrived at `readAt`, after the last push of each array. */
interface Position {
  readonly readAt: number;
  readonly after: readonly (readonly [time: number, name: string] | null)[];
  /** Empty pages so far. */
  readonly empty?: number;
}

type PageSetting = Pick<ServiceSetting, 'seed' | 'pageSizeOver' | 'longestPage' | 'timestamps'>;

const RETENTION = 31 * 86_400_000;

/** The body of the answer to a request for machine metrics. undefined: a bad request. */
export function machinesBody(machines: Machines, setting: PageSetting, body: string, now: number): string | undefined {
  const asked = read<Asked>(body);
  const { start, end } = asked?.range?.timestamp ?? {};
  if (!asked || !Number.isInteger(start) || !Number.isInteger(end)) return undefined;
  const { page_size: wanted = 10, cursor = '' } = asked;
  const filters = JSON.stringify([asked.range, asked.machines, wanted]);
  const [given, position] = cursor === '' ? [filters, undefined] : (read<[string, Position]>(cursor) ?? []);
  // A cursor belongs to its filters.
  if (given !== filters || wanted < 1 || wanted > 10) return undefined;
  const size = Math.min(wanted, setting.longestPage);
  const readAt = position?.readAt ?? now;
  machines.lastPage = [];
  if (machines.isPageEmpty()) {
    const { after = ARRAYS.map(() => null), empty = 0 } = position ?? {};
    const next = JSON.stringify([filters, { readAt, after, empty: empty + 1 } satisfies Position]);
    return `{"data":{"system_metrics":[]},"paging":{"next_cursor":${JSON.stringify(next)}}}`;
  }
  const range = { start: Math.max(Number(start) * 1_000, now - RETENTION), end: Number(end) * 1_000 + 999 };
  const ahead = ARRAYS.map((array, i) => newestOf(machines, asked, array, range, readAt, position?.after[i], size + 1));
  const counts =
    setting.pageSizeOver === 'each' ? ahead.map(({ length }) => Math.min(length, size)) : newestOfAll(ahead, size);
  const pages = ahead.map((pushes, i) => pushes.slice(0, counts[i]));
  machines.lastPage = pages.flat().filter((push) => !machines.isSpoilt(push));
  const isEnd = ahead.every((pushes, i) => pushes.length === counts[i]);
  const after = pages.map((page, i) => positionOf(page.at(-1)) ?? position?.after[i] ?? null);
  const next = isEnd ? '' : JSON.stringify([filters, { readAt, after } satisfies Position]);
  const texts = pages.map((page) => page.map((push) => textOf(machines, setting, push, now)).join(','));
  const arrays = ARRAYS.map((array, i) => `"${array}_metrics":[${texts[i]}]`).join(',');
  return `{"data":{${arrays}},"paging":{"next_cursor":${JSON.stringify(next)}}}`;
}

/** The newest `count` pushes of an array after a position. */
function newestOf(
  machines: Machines,
  { machines: names }: Asked,
  array: ArrayName,
  range: { start: number; end: number },
  readAt: number,
  after: Position['after'][number] | undefined,
  count: number,
): Push[] {
  const [time, name] = after ?? [Number.POSITIVE_INFINITY, ''];
  const end = Math.min(range.end, time);
  const streams = machines.selected(names?.length ? names : undefined).map((machine) => {
    const pushes = machines.pushes(machine, array, { start: range.start, end }, readAt);
    return { pushes, next: pushes.next().value };
  });
  const found: Push[] = [];
  while (found.length < count) {
    let first: (typeof streams)[number] | undefined;
    for (const stream of streams)
      if (stream.next && (!first?.next || isBefore(stream.next, first.next))) first = stream;
    if (!first?.next) break;
    const { next } = first;
    if (next.time < time || (next.time === time && next.machine.name > name)) found.push(next);
    first.next = first.pushes.next().value;
  }
  return found;
}

/** Newest first; of one time by name. */
function isBefore(a: Push, b: Push): boolean {
  return a.time > b.time || (a.time === b.time && a.machine.name < b.machine.name);
}

function positionOf(push: Push | undefined): readonly [number, string] | undefined {
  return push && [push.time, push.machine.name];
}

/** How many pushes of each array are among the newest `size` of all. */
function newestOfAll(ahead: readonly (readonly Push[])[], size: number): number[] {
  const all = ahead
    .flat()
    .sort((a, b) => b.time - a.time)
    .slice(0, size);
  return ARRAYS.map((array) => all.filter((push) => push.array === array).length);
}

/** The JSON of a record, or of something else in its place if it is spoilt. */
function textOf(machines: Machines, { seed, timestamps }: PageSetting, push: Push, now: number): string {
  const timestamp = timestamps === 'milliseconds' ? push.time : Math.floor(push.time / 1_000);
  const record = { timestamp, machine: push.machine.name, ...fieldsOf(push) };
  const share = machines.oddAt(push.time);
  if (share === 0) return JSON.stringify(record);
  const draw = unit(seed, 6, push.machine.id, Math.floor(push.time / 1_000));
  if (machines.isSpoilt(push)) return JSON.stringify(SPOILT[Math.floor(draw * SPOILT.length)]?.(record, now) ?? null);
  const text = JSON.stringify(draw < share / 2 ? { ...record, cpu_threads: null, new_field: { list: [1] } } : record);
  return draw > 1 - share / 2 ? `${text},${text}` : text;
}

/** Each of them is no record that a client may use. */
const SPOILT: readonly ((record: Record<string, unknown>, now: number) => unknown)[] = [
  () => null,
  () => 'a record',
  () => [],
  () => ({}),
  (record) => ({ ...record, timestamp: null }),
  (record) => ({ ...record, timestamp: String(record['timestamp']) }),
  (record, now) => ({ ...record, timestamp: now + 400 * 86_400_000 }),
  (record) => ({ ...record, machine: 17 }),
  (record) => ({ ...record, cpu_cores: -8, memory_process_bytes: 'much' }),
];

function read<T>(text: string): T | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
