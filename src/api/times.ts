import { type Chain, epochTime, slotTime } from '../facts/chain.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { listAt, valueAt } from '../toolkit/yaml/value-at.ts';
import { Index, PushedAt } from './answers/fields.ts';
import { type ApiRequest, ENDPOINTS } from './endpoints.ts';

/** Times in an answer. The clock of the service was past them when it answered, unless they are wrong. */
export interface Times {
  /** When a slot began that has a block, or whose validators are known. */
  readonly slotAt?: UnixMs | undefined;
  /** The newest record of each machine. */
  readonly machinesAt?: readonly UnixMs[];
}

type Asked = Pick<ApiRequest, 'endpoint' | 'chain' | 'body'>;

/** The times in an answer, before its records are judged by the clock. */
export function timesIn({ endpoint, chain, body }: Asked, answer: unknown): Times {
  const of = chain ?? (body as { readonly chain?: Chain } | undefined)?.chain;
  if (endpoint === 'machine_metrics') return { machinesAt: newestRecords(answer) };
  if (of && endpoint === 'epoch_slots') return { slotAt: newestBlock(of, answer) };
  const epoch = endpoint === 'validators' ? Index.safeParse(valueAt(answer, ['range', 'epoch'])).data : undefined;
  return of && epoch !== undefined ? { slotAt: epochTime(of, epoch) * 1000 } : {};
}

/** The second newest, because a single wrong row must not decide. */
function newestBlock(chain: Chain, answer: unknown): UnixMs | undefined {
  const blocks = listAt(answer, 'data').filter((row) => valueAt(row, ['status']) === '1');
  const slots = blocks.flatMap((row) => Index.safeParse(valueAt(row, ['slot'])).data ?? []).sort((a, b) => b - a);
  const slot = slots[1] ?? slots[0];
  return slot === undefined ? undefined : slotTime(chain, slot) * 1000;
}

function newestRecords(answer: unknown): UnixMs[] {
  const newest = new Map<unknown, UnixMs>();
  for (const record of Object.keys(ENDPOINTS.machine_metrics.records).flatMap((path) => listAt(answer, path))) {
    const [name, pushedAt] = [valueAt(record, ['machine']) ?? '', PushedAt.safeParse(valueAt(record, ['timestamp']))];
    if (pushedAt.data) newest.set(name, Math.max(pushedAt.data * 1000, newest.get(name) ?? 0));
  }
  return [...newest.values()];
}
