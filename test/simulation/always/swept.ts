import { HOUR, SECOND } from '../../support/timing.ts';
import { valueIn } from '../scrape.ts';
import type { Sent } from '../traffic.ts';
import type { Check } from './check.ts';
import { lastSeen } from './machines.ts';

/** A value is shown when it is written, which may fail for a while. */
const WRITTEN_AFTER_MS = HOUR;

/** The newest record of a process of a machine that an answer had. */
interface Read {
  readonly by: Sent;
  /** Unix ms. */
  readonly time: number;
}

/**
 * A record that an answer had is shown when the next sweep has begun, also where the sweep that read it failed on a later
 * page (behaviour 14). Not judged: what was read before a step of a clock, a reload or another process.
 */
export function readIsShown(): Check {
  const newest = new Map<string, Read>();
  return {
    name: 'machines: what was read is shown',
    onEvent(event) {
      const { kind } = event;
      if (kind === 'step' || kind === 'reload' || kind === 'ended') newest.clear();
      if (kind !== 'end' || event.sent.failure !== undefined) return undefined;
      const { sent } = event;
      for (const { machine, array, time } of sent.counted?.pushes ?? []) {
        const id = `${machine.name} ${array}`;
        // One from the future is not taken.
        if (time <= sent.ownAt && time > (newest.get(id)?.time ?? 0)) newest.set(id, { by: sent, time });
      }
      return undefined;
    },
    onScrape(scrape, { host }) {
      if (newest.size === 0 || scrape.at - host.writeTroubleAt <= WRITTEN_AFTER_MS) return undefined;
      const last = valueIn(scrape, 'beaconchain_source_last_attempt_timestamp_seconds', 'source="machines"') ?? 0;
      const begunAt = SECOND * last;
      // It began before the clock was set back, and its requests may still be under way.
      if (begunAt > scrape.ownAt) return undefined;
      const shown = lastSeen(scrape);
      for (const [id, { by, time }] of newest) {
        if (by.process !== scrape.process || by.ownAt >= begunAt) continue;
        const at = shown.get(id) ?? 0;
        if (at < Math.floor(time / SECOND)) return `${id} was read with ${time / SECOND}, and is shown with ${at}`;
      }
      return undefined;
    },
  };
}
