import { type Chain, SLOTS_PER_EPOCH, slotTime } from '../facts/chain.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { listAt, valueAt } from '../toolkit/yaml/value-at.ts';
import { Index, PushedAt } from './answers/fields.ts';
import { type ApiRequest, ENDPOINTS } from './endpoints.ts';

/** Times in a response, which a right clock of the service is past: the slot has begun, and most machines, at least two, have pushed. */
export type Times = Readonly<Partial<Record<'slotAt' | 'machinesAt', UnixMs | undefined>>>;

/** The times in a response, before the clock judges its records. */
export function timesIn({ endpoint, chain, body }: ApiRequest, answer: unknown): Times {
  if (endpoint === 'machine_metrics') return { machinesAt: newestOfMost(answer) };
  const of = chain ?? (body as { readonly chain?: Chain } | undefined)?.chain;
  const blocks = listAt(answer, 'data').filter((row) => valueAt(row, ['status']) === '1');
  const slots = blocks.flatMap((row) => Index.safeParse(valueAt(row, ['slot'])).data ?? []).sort((a, b) => b - a);
  const { data: epoch } = Index.safeParse(valueAt(answer, ['range', 'epoch']));
  // The second newest, because a single wrong row must not decide.
  const slot = slots[1] ?? slots[0] ?? (epoch && epoch * SLOTS_PER_EPOCH);
  return { slotAt: of && slot && slotTime(of, slot) * 1000 };
}

function newestOfMost(answer: unknown): UnixMs | undefined {
  const newest = new Map<unknown, UnixMs>();
  for (const record of Object.keys(ENDPOINTS.machine_metrics.records).flatMap((path) => listAt(answer, path))) {
    const [name, { data: at = 0 }] = [valueAt(record, ['machine']), PushedAt.safeParse(valueAt(record, ['timestamp']))];
    newest.set(name, Math.max(at * 1000, newest.get(name) ?? 0));
  }
  return [...newest.values()].sort((a, b) => b - a)[Math.max(1, newest.size >> 1)];
}
