import { MINUTE } from '../../support/timing.ts';
import { seriesNamed } from '../scrape.ts';
import type { World } from '../world.ts';
import type { Check } from './check.ts';
import { following } from './following.ts';
import { Searches } from './searches.ts';
import { momentOf, undisturbed } from './spells.ts';

/** Sweeps in which a machine must be found, in a small and in a large fleet. */
const SWEEPS_TO_FIND = [5, 12] as const;
const LARGE_FLEET = 100;
/** Records may be as late as this. */
const LATEST_MS = 5 * MINUTE;
/** By a clock that is wrong by more, a sweep asks for other records. */
const WRONG_CLOCK_MS = MINUTE;
/** Where sweeps are further apart, a machine that alone is late is not looked for. */
const RARE_MS = 4 * MINUTE;

/**
 * A machine that pushes is seen within five sweeps, also where its records are up to five minutes late (behaviour 13). In
 * a large fleet it may take more, and in a small one as many more as had too few requests left to look for it.
 */
export function machinesFound(): Check {
  /** By machine: how many sweeps had succeeded and were cut short when it could be found, in a time without disturbance. */
  const since = new Map<string, { readonly successes: number; readonly cutShort: number }>();
  const searches = new Searches();
  let live = 0;
  const spells = undisturbed('machines: one that pushes is found', () => {
    since.clear();
    return undefined;
  });
  const sweepsSeen = following(spells.name, (event, world) => {
    if (event.kind === 'sent') searches.note(event.sent, live, world);
    return undefined;
  });
  return {
    ...spells,
    onMoment(world) {
      sweepsSeen.onMoment(world);
      return spells.onMoment?.(world);
    },
    onScrape(scrape, world) {
      spells.onScrape?.(scrape, world);
      sweepsSeen.onMoment(world);
      if (world.isCalm || world.exporter.replicas > 0 || isVague(world)) return undefined;
      const sweeps = momentOf(scrape).sources.get('machines');
      if (!sweeps?.isUp || Math.abs(scrape.ownAt - scrape.at) > WRONG_CLOCK_MS) {
        since.clear();
        return undefined;
      }
      const { names } = world.service.machines;
      const { of } = world.story.setting.service.lag;
      const isSought = of !== 'one' || sweeps.intervalMs <= RARE_MS;
      const successes = sweeps.attempts - sweeps.failures;
      const seen = seriesNamed(scrape, 'beaconchain_machine_last_seen_timestamp_seconds');
      live = new Set(seen.map(([labels]) => /machine="(.*)",process=/.exec(labels)?.[1])).size;
      for (const [id, name] of names.entries()) {
        const { from = 0, until = 0 } = world.service.machines.spansOf(name).at(-1) ?? {};
        const isThere = from + MINUTE + LATEST_MS < scrape.at && until > scrape.at && isSought;
        if (!isThere || (of === 'one' && id === 0 && sweeps.intervalMs > RARE_MS)) {
          since.delete(name);
          continue;
        }
        const first = since.get(name) ?? { successes, cutShort: searches.cutShort };
        since.set(name, first);
        const label = `machine=${JSON.stringify(name)},`;
        const [few, many] = SWEEPS_TO_FIND;
        const sought = names.length < LARGE_FLEET ? few + searches.cutShort - first.cutShort : many;
        // For a newcomer the sweep that was under way does not count.
        const least = sought + (from > world.story.start ? 1 : 0);
        if (successes - first.successes < least) continue;
        if (!seen.some(([labels, at]) => at > 0 && labels.includes(label)))
          return `${name} has pushed since ${from}, and is not seen after ${successes - first.successes} sweeps`;
      }
      return undefined;
    },
  };
}

/** Whether records are spoilt or missing, so that one that is there may never be seen. */
function isVague({ story, exporter }: World): boolean {
  const { missing, odd } = story.setting.service;
  const changes = ['late records', 'odd records', 'silence', 'empty pages'];
  const isChanged = story.events.some(({ kind }) => changes.includes(kind));
  return missing.machine + missing.array + odd.machines > 0 || isChanged || exporter.exclude.length > 0;
}
