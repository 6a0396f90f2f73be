import { Fleet } from '../../support/model/fleet.ts';
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
  const lateMs = (id: number): number => (lag.of === 'all' || (lag.of === 'one' && id === 0) ? lag.ms : 0);
  const fleet = new Fleet({ machines: 0, seed, missing: { machine: missing }, pageSizeOver, longestPage, lateMs });
  for (const name of machines) fleet.add(name, Number.NEGATIVE_INFINITY);
  return fleet;
}

/** A page. undefined: a bad request, such as a cursor of another sequence. */
export function pageOf(fleet: Fleet, body: string, now: number): string | undefined {
  try {
    return fleet.answer(JSON.parse(body), now);
  } catch {
    return undefined;
  }
}

/** The records of a page. */
export function pushesIn(page: string): Push[] {
  const { data }: Answer = JSON.parse(page);
  return Object.entries(data).flatMap(([name, records]) =>
    records.map(({ machine, timestamp }) => ({ machine, array: name.replace('_metrics', ''), time: timestamp })),
  );
}
