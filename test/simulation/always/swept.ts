import { HOUR } from '../../support/timing.ts';
import { type Scrape, valueIn } from '../scrape.ts';
import type { Exchange } from '../service/record.ts';
import type { Sent } from '../traffic.ts';
import type { World } from '../world.ts';
import type { Check } from './check.ts';
import { storeTroubleAt } from './circumstances.ts';
import { following } from './following.ts';
import { seenIn } from './machines.ts';

/** A value is shown when it is written, which a disk may refuse for a while. */
const WRITTEN_AFTER_MS = HOUR;

/** The newest record of a process of a machine that an answer had. */
interface Read {
  readonly by: Sent;
  readonly name: string;
  /** Unix ms. */
  readonly time: number;
}

/**
 * A record that an answer had is shown when the next sweep has ended, also where the sweep that read it failed on a later
 * page (behaviour 12). Not judged: what was read before a step of a clock or a reload.
 */
export function readIsShown(): Check {
  const exchanges = new WeakMap<Sent, Exchange>();
  const newest = new Map<string, Read>();
  const follower = following('machines: what was read is shown', (event) => {
    const { kind } = event;
    if (kind === 'step' || kind === 'reload' || kind === 'ended') newest.clear();
    if (kind === 'counted') exchanges.set(event.sent, event.exchange);
    if (kind !== 'end' || event.sent.failure !== undefined) return undefined;
    const { sent } = event;
    for (const { machine, array, time } of exchanges.get(sent)?.pushes ?? []) {
      const id = `${machine.name} ${array}`;
      // One from the future is not taken.
      if (time <= sent.ownAt && time > (newest.get(id)?.time ?? 0))
        newest.set(id, { by: sent, name: machine.name, time });
    }
    return undefined;
  });
  return {
    ...follower,
    onScrape(scrape, world) {
      const wrong = follower.onMoment(world);
      if (wrong !== undefined || newest.size === 0 || !isJudged(scrape, world)) return wrong;
      const begunAt =
        1_000 * (valueIn(scrape, 'beaconchain_source_last_attempt_timestamp_seconds', 'source="machines"') ?? 0);
      // It began before the clock was set back, and its requests may still be under way.
      if (begunAt > scrape.ownAt) return undefined;
      const shown = new Map([...seenIn(scrape)].map(({ name, array, at }) => [`${name} ${array}`, at]));
      for (const [id, { by, name, time }] of newest) {
        if (by.process !== scrape.process || by.ownAt >= begunAt || world.exporter.exclude.includes(name)) continue;
        const at = shown.get(id) ?? 0;
        if (at < Math.floor(time / 1_000))
          return `${scrape.host}: ${id} was read with ${time / 1_000}, and is shown with ${at}`;
      }
      return undefined;
    },
  };
}

/** Replicas change their roles. */
function isJudged({ host, at }: Scrape, world: World): boolean {
  return world.exporter.replicas === 0 && at - storeTroubleAt(world, host) > WRITTEN_AFTER_MS;
}
