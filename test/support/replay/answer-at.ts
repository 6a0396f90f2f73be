import type { DumpedAnswer } from '../../../src/commands/probe/dump.ts';
import { listAt } from '../../../src/commands/probe/requests.ts';
import { type Chain, EPOCHS_PER_SYNC_COMMITTEE_PERIOD, epochAt, SLOTS_PER_EPOCH } from '../../../src/lib/chain.ts';
import { isObject } from '../../../src/lib/is-object.ts';
import { isMilliseconds, type UnixMs } from '../../../src/lib/time.ts';
import { byEpochs, epochsToHead, epochsToNewestDay, epochsToPeriod, machinesTo, moved } from './move.ts';

/** An answer as a dump has it. */
export interface Recorded extends DumpedAnswer {
  readonly chain?: Chain;
}
export type Dump = readonly Recorded[];

interface Asked {
  readonly path: string;
  /** The JSON of a v2 request. */
  readonly body: Readonly<Record<string, unknown>>;
}

const SELECTOR = /\/(latest|finalized|next|\d+)(?=\/|$)/;

/** The epoch, slot or period that a v1 path names. */
function selectorOf(path: string): string {
  return SELECTOR.exec(path)?.[1] ?? '';
}

/** A path without what it selects. */
export function kindOf(path: string): string {
  return path.replace(SELECTOR, '/*');
}

/** Pure. The JSON of a recorded answer as the service would give it at `now`. */
export function answerAt(dump: Dump, answer: Recorded, asked: Asked, now: UnixMs): unknown {
  const { endpoint, body, chain = 'mainnet' } = answer;
  const selected = selectorOf(asked.path);
  switch (endpoint) {
    case 'machine_metrics':
      return machinesPage(moved(body, machinesTo(now, epochsOfMachines(dump, body, now))), asked.body);
    case 'daily_returns': {
      const days = listAt(body, 'data').map((day) => numberAt(day, 'day') ?? 0);
      return days.length === 0 ? body : moved(body, byEpochs(epochsToNewestDay(chain, Math.max(...days), now)));
    }
    case 'epoch_slots':
      return epochAnswer(answer, chain, selected, now);
    case 'attester_slashings':
    case 'proposer_slashings':
      return slashingsAnswer(answer, selected);
    default: {
      const period = numberAt(body, 'data', 'period');
      return period === undefined ? body : moved(body, byEpochs(epochsToSelected(chain, period, selected, now)));
    }
  }
}

function epochsToSelected(chain: Chain, period: number, selected: string, now: UnixMs): number {
  if (/^\d+$/.test(selected)) return (Number(selected) - period) * EPOCHS_PER_SYNC_COMMITTEE_PERIOD;
  return epochsToPeriod(chain, period, now) + (selected === 'next' ? EPOCHS_PER_SYNC_COMMITTEE_PERIOD : 0);
}

/** How far finality is behind the head. */
const LAG = 2;

/** The rows of `latest` stand for every epoch. The dump may have those of `finalized` too. */
function epochAnswer({ request, body }: Recorded, chain: Chain, selected: string, now: UnixMs): unknown {
  const slot = newestSlot(body);
  if (slot === undefined) return body;
  const recorded = Math.floor(slot / SLOTS_PER_EPOCH);
  const isOwn = selectorOf(request.path) === 'finalized';
  // The newest block may be of the epoch before this one.
  const toFinalized = isOwn ? epochAt(chain, now) - 1 - LAG - recorded : epochsToHead(chain, slot, now) - LAG;
  const epochs = { latest: toFinalized + LAG, finalized: toFinalized }[selected] ?? Number(selected) - recorded;
  const answer = moved(body, byEpochs(epochs));
  return epochs <= toFinalized ? withFinalStatus(answer) : answer;
}

/** A missed slot is called scheduled until it is final (api-facts 5.1). */
function withFinalStatus(answer: unknown): unknown {
  const rows = listAt(answer, 'data').map((row) =>
    isObject(row) && row['status'] === '0' ? { ...row, status: '2' } : row,
  );
  return isObject(answer) ? { ...answer, data: rows } : answer;
}

/** The slashings of a slot stand for that slot of every epoch. The other slots have none. */
function slashingsAnswer({ request, body }: Recorded, selected: string): unknown {
  const epochs = (Number(selected) - Number(selectorOf(request.path))) / SLOTS_PER_EPOCH;
  if (Number.isInteger(epochs)) return moved(body, byEpochs(epochs));
  return isObject(body) && Array.isArray(body['data']) ? { ...body, data: [] } : body;
}

/** The slot of the newest block, or else of the last row. */
function newestSlot(body: unknown): number | undefined {
  const rows = listAt(body, 'data').filter(isObject);
  return numberAt(rows.findLast((row) => row['status'] === '1') ?? rows.at(-1), 'slot');
}

/** The head slots of machines move like those of the chain whose head is nearest. */
function epochsOfMachines(dump: Dump, page: unknown, now: UnixMs): number {
  const head = numberAt(listAt(page, 'data', 'node_metrics')[0], 'sync_beacon_head_slot') ?? 0;
  const heads = dump.flatMap(({ endpoint, chain = 'mainnet', body }) => {
    const slot = endpoint === 'epoch_slots' ? newestSlot(body) : undefined;
    return slot === undefined ? [] : [{ chain, slot }];
  });
  const [nearest] = heads.sort((a, b) => Math.abs(a.slot - head) - Math.abs(b.slot - head));
  return nearest ? epochsToHead(nearest.chain, nearest.slot, now) : 0;
}

/** The records in the range, of the machines that are asked for. What the pages after the recorded one had is not known. */
function machinesPage(page: unknown, { range, machines, cursor }: Asked['body']): unknown {
  if (!isObject(page) || !isObject(page['data'])) return page;
  const start = numberAt(range, 'timestamp', 'start') ?? 0;
  const end = numberAt(range, 'timestamp', 'end') ?? Number.POSITIVE_INFINITY;
  const isAsked = (record: unknown): boolean => {
    const time = numberAt(record, 'timestamp') ?? 0;
    const seconds = isMilliseconds(time) ? time / 1000 : time;
    const name = isObject(record) ? (record['machine'] ?? '') : '';
    return !cursor && seconds >= start && seconds <= end && (!Array.isArray(machines) || machines.includes(name));
  };
  const lists = Object.entries(page['data']).map(([name, list]) => {
    return [name, Array.isArray(list) ? list.filter(isAsked) : list];
  });
  return { ...page, ...(cursor ? { paging: {} } : {}), data: Object.fromEntries(lists) };
}

/** A number, or the digits of one. */
function numberAt(value: unknown, ...path: readonly string[]): number | undefined {
  const found = path.reduce<unknown>((inner, name) => (isObject(inner) ? inner[name] : undefined), value);
  return found === undefined || found === null || !Number.isFinite(Number(found)) ? undefined : Number(found);
}
