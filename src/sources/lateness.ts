import { formatDuration, MS_PER_DAY, MS_PER_MINUTE } from '../toolkit/lib/duration.ts';
import type { Milliseconds } from '../toolkit/lib/time.ts';
import type { Alert } from './conditions.ts';
import type { Timing } from './read.ts';
import type { Source } from './source.ts';

/** `for` of the rules in deploy/prometheus. A test compares both. */
export const FOR_MS = {
  BeaconchainMachineOffline: 0,
  BeaconchainDiskAlmostFull: 5 * MS_PER_MINUTE,
  BeaconchainValidatorOffline: 0,
  BeaconchainWatchedValidatorSlashed: 0,
  BeaconchainWatchedProposalMissed: 0,
} as const satisfies Partial<Record<Alert, Milliseconds>>;

/** A scrape, a rule evaluation and the wait of Alertmanager take 30 s each, as set in deploy/. */
const DELIVERY_MS = 1.5 * MS_PER_MINUTE;
/** A later alert does not come in time. */
const TOO_LATE_MS = MS_PER_DAY;

/** How soon a source shows an event that has an alert. */
export interface Detection {
  readonly alert: keyof typeof FOR_MS;
  /** The event. */
  readonly what: string;
  /** The longest time from the event to the value on /metrics, if every request works. A text says why it may not come. */
  readonly afterMs: Milliseconds | string;
}

/** How late the alert on an event of a chain can be, in words. */
export interface Lateness extends Pick<Detection, 'alert' | 'what'> {
  readonly chain: string;
  readonly text: string;
  readonly isInTime: boolean;
}

/** Pure. How late each alert can be at these paces. If several sources show an event, the first counts. */
export function latenessAt(paced: readonly { readonly source: Source; readonly timing: Timing }[]): Lateness[] {
  const all = paced.flatMap(({ source, timing }) =>
    (source.more?.detects?.(timing) ?? []).map((one) => ({ ...one, chain: source.chain ?? '' })),
  );
  return [...Map.groupBy(all, ({ chain, what }) => `${chain} ${what}`).values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const { alert, what, chain, afterMs: why } = first;
    const shownMs = Math.min(
      ...[first, ...others].map(({ afterMs }) => (typeof afterMs === 'string' ? Infinity : afterMs)),
    );
    const lateMs = shownMs + FOR_MS[alert] + DELIVERY_MS;
    const isInTime = lateMs <= TOO_LATE_MS;
    const text = lateMs === Infinity ? String(why) : `${isInTime ? '' : 'too late: '}${roundedUp(lateMs)}`;
    return [{ alert, what, chain, text, isInTime }];
  });
}

/** Three figures at most: hours from ten on, else minutes. */
function roundedUp(ms: Milliseconds): string {
  const unit = ms < 600 * MS_PER_MINUTE ? MS_PER_MINUTE : 60 * MS_PER_MINUTE;
  return formatDuration(Math.ceil(ms / unit) * unit);
}
