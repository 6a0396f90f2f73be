import { parseExposition } from '../../support/exposition-parser.ts';
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

const COUNTER = /^(?!beaconchain_machine_)\w+_(total|bucket|sum|count)(\{|$)/;

/**
 * No counter of a host steps back or disappears, whatever becomes of its process. Those of machines may be reset, and
 * those of a chain go while it is not configured.
 */
export function countersGrow(): Check {
  const before = new Map<string, ReadonlyMap<string, number>>();
  /** The counters of chains that are not configured, by host. */
  const off = new Map<string, Map<string, number>>();
  return {
    name: 'exposition: counters grow',
    onScrape({ host, series }, { hasChangedChains }) {
      const last = before.get(host);
      before.set(host, series);
      const gone = off.get(host) ?? new Map<string, number>();
      off.set(host, gone);
      for (const [key, value] of gone) {
        const now = series.get(key);
        if (now === undefined) continue;
        if (now < value) return `${key} was ${value}, is ${now} again`;
        gone.delete(key);
      }
      for (const [key, value] of last ?? []) {
        if (!COUNTER.test(key)) continue;
        const now = series.get(key);
        if (now === undefined && hasChangedChains && key.includes('chain="')) gone.set(key, value);
        else if (now === undefined || now < value) return `${key} was ${value}, is ${now}`;
      }
      return undefined;
    },
  };
}
