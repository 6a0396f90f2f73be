import { parseExposition } from '../../support/exposition/exposition-parser.ts';
import { namesIn, seriesNamed } from '../scrape.ts';
import type { World } from '../world.ts';
import type { Check } from './check.ts';

/** Reading with care takes as long as everything else, so it is done now and then. */
const EACH = 10;

/** /metrics is well formed, and no series is there twice. */
export function wellFormed(): Check {
  let scrapes = 0;
  return {
    name: 'exposition: well formed',
    onScrape({ text }) {
      scrapes += 1;
      if (scrapes % EACH !== 1) return undefined;
      try {
        const seen = new Set<string>();
        for (const { name, labels } of parseExposition(text).flatMap(({ samples }) => samples)) {
          const key = name + JSON.stringify(Object.entries(labels).sort());
          if (seen.has(key)) return `${key} is there twice`;
          seen.add(key);
        }
      } catch (error) {
        return String(error);
      }
      return undefined;
    },
  };
}

/** The counters of machines may be reset. */
const COUNTER = /^(?!beaconchain_machine_)\w+_(total|bucket|sum|count)$/;
/** These begin at 0 with each process. */
const OWN = /^beaconchain_(api|budget|exporter|source)_/;

/**
 * No counter steps back: those of a chain whatever becomes of the process, the exporter's own while it lives. No counter of a
 * chain disappears while the chain is configured.
 */
export function countersGrow(): Check {
  const before = new Map<string, { readonly value: number; readonly process: number }>();
  let lastRead: World['lastRead'] | undefined;
  return {
    name: 'exposition: counters grow',
    onScrape(scrape, world) {
      const { process, series } = scrape;
      for (const name of namesIn(scrape)) {
        if (!COUNTER.test(name)) continue;
        for (const [, value, key] of seriesNamed(scrape, name)) {
          const last = before.get(key);
          if (last && value < last.value && (last.process === process || !OWN.test(key)))
            return `${key} was ${last.value}, is ${value}`;
          before.set(key, { value, process });
        }
      }
      // A reload may not have ended.
      const isSame = lastRead === world.lastRead;
      lastRead = world.lastRead;
      if (!isSame) return undefined;
      const isWanted = (key: string): boolean =>
        !OWN.test(key) &&
        !key.includes('watched') &&
        lastRead?.chains.some((chain) => key.includes(`"${chain}"`)) === true;
      const gone = [...before.keys()].find((key) => isWanted(key) && !series.has(key));
      return gone && `${gone} is gone`;
    },
  };
}
