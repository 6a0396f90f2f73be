import { MINUTE, SECOND } from '../../support/timing.ts';
import { type Scrape, seriesNamed } from '../scrape.ts';
import type { Sent } from '../traffic.ts';
import type { World } from '../world.ts';
import type { Check } from './check.ts';
import { following, when } from './following.ts';
import { idOf, isPaced } from './spells.ts';
import { Steps } from './steps.ts';

/** What a process showed of a source before it ended. What is shown is in the state. Unix ms by the clock of the host. */
interface Shown {
  readonly process: number;
  /** True time. */
  readonly at: number;
  readonly lastAt: number;
  /** The next attempt. A poll of slashings that reads only final epochs does not put off the next one. */
  readonly nextAt: number;
  readonly isUp: boolean;
}

/** A clock may be slewed a little while no process runs. */
const TOLERANCE_MS = 50;
/** A poll may have begun so long before its last request, and a step in between counts. */
const POLL_MS = 5 * MINUTE;

/** A restart does not poll what the state says is not due: the next poll begins an interval after the last one (behaviour 11). */
export function restartsPollWhatIsDue(): Check {
  const shown = new Map<string, Shown>();
  const polled = new Set<string>();
  const steps = new Steps();
  /** The last request for each source of a host. */
  const last = new Map<string, Sent>();
  /** The shortest configured interval of each source so far, ms. */
  const shortest = { machines: Number.POSITIVE_INFINITY, slashings: Number.POSITIVE_INFINITY };

  function see(world: World): void {
    const { machines, slashings } = world.exporter.intervals;
    shortest.machines = Math.min(shortest.machines, SECOND * machines);
    shortest.slashings = Math.min(shortest.slashings, SECOND * slashings);
  }

  const follower = following('process: a restart polls only what is due', (event, world) => {
    see(world);
    steps.note(event);
    // A reload may have changed a source, or brought another key.
    if (event.kind === 'reload') shown.clear();
    if (event.kind !== 'sent') return undefined;
    const { sent } = event;
    const id = `${sent.process} ${sent.source}`;
    const of = `${sent.host} ${sent.source}`;
    const [before, earlier] = [shown.get(of), last.get(of)];
    last.set(of, sent);
    if (polled.has(id)) return undefined;
    polled.add(id);
    if (!before?.isUp || before.process === sent.process || earlier?.key !== sent.key) return undefined;
    // What is shown may have been rendered a while before.
    const since = Math.min(earlier.at - POLL_MS, before.at - world.exporter.refreshMs - SECOND);
    if (steps.any(sent.host, since, sent.at) || world.host(sent.host).lostStateAt >= before.at) return undefined;
    const interval = sent.source === 'machines' ? shortest.machines : shortest.slashings;
    const early = Math.min(before.lastAt + interval, before.nextAt) - sent.ownAt;
    if (early <= TOLERANCE_MS) return undefined;
    return `${sent.source} is polled at ${when(sent.at, world)}, ${early / SECOND} s before it is due`;
  });

  return {
    ...follower,
    onScrape(scrape: Scrape, world) {
      const wrong = follower.onMoment(world);
      // Replicas go by the clock of Redis, which can be set.
      if (world.exporter.replicas > 0) return wrong;
      for (const [labels, seconds] of seriesNamed(scrape, 'beaconchain_source_last_attempt_timestamp_seconds')) {
        const source = idOf(labels);
        if (!isPaced(source)) continue;
        const isUp = scrape.series.get(`beaconchain_source_up{${labels}}`) === 1;
        const { host, process, at, ownAt } = scrape;
        const lastAt = seconds * SECOND;
        const nextAt =
          SECOND * (scrape.series.get(`beaconchain_source_next_attempt_timestamp_seconds{${labels}}`) ?? 0);
        // The clock was set back while the source was polled.
        if (lastAt > ownAt) shown.delete(`${host} ${source}`);
        else shown.set(`${host} ${source}`, { process, at, lastAt, nextAt, isUp });
      }
      return wrong;
    },
  };
}
