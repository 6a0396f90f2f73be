import type { Fleet } from '../../../src/sandbox/machines.ts';
import { countingFleet } from './fleet.ts';
import type { ServiceSetting } from './setting.ts';

/** A record as a client reads it. */
export interface Push {
  readonly machine: string;
  /** `system`, `validator` or `node`. */
  readonly array: string;
  /** Unix ms. */
  readonly time: number;
}

interface Answer {
  readonly data: Readonly<Record<string, readonly { readonly machine: string; readonly timestamp: number }[]>>;
}

export function fleetOf({ seed, missing, pageSizeOver, lag, longestPage, machines }: ServiceSetting): Fleet {
  const lateMs = (i: number): number => (lag.of === 'all' || (lag.of === 'one' && i === 0) ? lag.ms : 0);
  return countingFleet({ machines, seed, missing: { machine: missing }, pageSizeOver, longestPage, lateMs });
}

/** The records of a page. */
export function pushesIn(page: string): Push[] {
  const { data }: Answer = JSON.parse(page);
  return Object.entries(data).flatMap(([name, records]) =>
    records.map(({ machine, timestamp }) => ({ machine, array: name.replace('_metrics', ''), time: timestamp })),
  );
}
