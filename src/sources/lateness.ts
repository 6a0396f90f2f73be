import { formatDuration, MS_PER_DAY, MS_PER_HOUR, MS_PER_MINUTE } from '../toolkit/lib/duration.ts';
import type { Milliseconds } from '../toolkit/lib/time.ts';
import type { Alert } from './conditions.ts';
import type { Timing } from './read.ts';
import type { Source } from './source.ts';

/** `for` of the rules in deploy/prometheus. A test compares both. */
export const FOR_MS: Partial<Record<Alert, Milliseconds>> = { BeaconchainDiskAlmostFull: 5 * MS_PER_MINUTE };
/** A scrape, a rule evaluation and the wait of Alertmanager take 30 s each, as set in deploy/. */
const DELIVERY_MS = 1.5 * MS_PER_MINUTE;

/** Pure. How late the alert on each event of a chain can be. If several sources detect an event, the fastest one counts. */
export function latenessAt(paced: readonly { readonly source: Source; readonly timing: Timing }[]) {
  const found = new Map<string, { lateMs: Milliseconds; row: [event: string, chain: string, late: string] }>();
  for (const { source, timing } of paced) {
    for (const [alert, event, after] of source.more?.detects?.(timing) ?? []) {
      const [key, chain] = [`${event} ${source.chain}`, source.chain ?? ''];
      const isText = typeof after === 'string';
      const lateMs = isText ? Number.MAX_VALUE : after + (FOR_MS[alert] ?? 0) + DELIVERY_MS;
      if (lateMs <= (found.get(key)?.lateMs ?? Infinity))
        found.set(key, { lateMs, row: [event, chain, isText ? after : inWords(lateMs)] });
    }
  }
  return [...found.values()].map(({ row }) => row);
}

function inWords(ms: Milliseconds): string {
  if (ms === Infinity) return 'never';
  const unit = ms < 10 * MS_PER_HOUR ? MS_PER_MINUTE : MS_PER_HOUR;
  return `${ms > MS_PER_DAY ? 'too late: ' : ''}${formatDuration(Math.ceil(ms / unit) * unit)}`;
}
