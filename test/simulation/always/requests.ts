import { MINUTE, SECOND } from '../../support/timing.ts';
import { type Scrape, seriesNamed } from '../scrape.ts';
import type { Sent } from '../traffic.ts';
import { type Check, when } from './check.ts';

/**
 * No two polls of a source overlap (behaviour 11). A poll may have several requests under way, but never two that are the
 * same, and that of the machines one at a time.
 */
export function noOverlap(): Check {
  const underWay = new Map<string, Sent[]>();
  return {
    name: 'requests: no two polls of a source overlap',
    onEvent(event, world) {
      if (event.kind !== 'sent' && event.kind !== 'end') return undefined;
      const { sent } = event;
      const { base, path, body } = sent.request;
      const id = `${sent.process} ${sent.source === 'machines' ? '' : `${base}${path}${body}`}`;
      const others = underWay.get(id)?.filter((one) => one !== sent && !(Number(one.endedAt) <= sent.at)) ?? [];
      underWay.set(id, event.kind === 'sent' ? [...others, sent] : others);
      if (event.kind === 'end' || others.length === 0) return undefined;
      const since = others.map(({ at }) => when(at, world)).join(', ');
      return `${sent.endpoint} is sent at ${when(sent.at, world)} while those of ${since} are under way`;
    },
  };
}

const MAX_TIMES = 3;
/** Statuses that another try does not change. */
const FINAL: readonly number[] = [400, 401, 403, 404, 405];
/** Another poll can ask the same, but not so soon. */
const RETRIED_WITHIN_MS = 5_000;

/** A request is sent again twice at most, and not at all after an answer that another try does not change (behaviour 3). */
export function fewRetries(): Check {
  const last = new Map<string, { readonly sent: Sent; readonly what: string; readonly times: number }>();
  /** When the next poll may have become due at once. */
  let changedAt = Number.NEGATIVE_INFINITY;
  return {
    name: 'requests: few retries',
    onEvent(event, world) {
      if (event.kind === 'reload') changedAt = event.at;
      // A poll that began in the future, by the clock as it is now, is due again when it ends.
      if (event.kind === 'step') changedAt = event.at + MINUTE;
      if (event.kind !== 'sent') return undefined;
      const { sent } = event;
      const { base, path, body = '' } = sent.request;
      const what = `${sent.key} ${base}${path} ${body}`;
      const id = `${sent.process} ${sent.source}`;
      const before = last.get(id);
      const isAgain = before?.what === what;
      // Only a sweep never asks for the same in two polls, because its range ends at another time.
      const times = isAgain && sent.endpoint === 'machine_metrics' ? before.times + 1 : 1;
      last.set(id, { sent, what, times });
      if (times > MAX_TIMES) return `${sent.endpoint} at ${when(sent.at, world)} is sent for the ${times}th time`;
      const { head } = before?.sent ?? {};
      if (!isAgain || !head || !FINAL.includes(head.status)) return undefined;
      if (sent.at >= Math.max(head.at, changedAt) + RETRIED_WITHIN_MS || sent.at < changedAt + RETRIED_WITHIN_MS)
        return undefined;
      return `${sent.endpoint} at ${when(sent.at, world)} is sent again after a ${head.status}`;
    },
  };
}

/** After a reload that changes nothing, no request is given up (behaviour 35). */
export function reloadsEndNothing(): Check {
  /** The configuration that the process has read, and when it last read the same again. */
  let read = '';
  let sameAt = Number.NEGATIVE_INFINITY;
  return {
    name: 'requests: a reload ends no poll',
    onEvent(event, { host, exporter }) {
      if (event.kind === 'start' || event.kind === 'reload') {
        const now = JSON.stringify(event.exporter);
        sameAt = event.kind === 'reload' && now === read ? event.at : Number.NEGATIVE_INFINITY;
        read = now;
      }
      if (event.kind !== 'end' || event.sent.failure !== 'aborted' || event.at !== sameAt) return undefined;
      const { sent, at } = event;
      // The time for an answer may end with the same ms.
      if (at - sent.at >= SECOND * exporter.timeoutSeconds || host.process?.number !== sent.process) return undefined;
      return host.process.isStopping ? undefined : `${sent.endpoint} is given up after ${at - sent.at} ms`;
    },
  };
}

/** What a process showed of a source. What is shown is in the state. Unix ms by the clock of the process. */
interface Shown {
  readonly process: number;
  /** True time. */
  readonly at: number;
  readonly lastAt: number;
  /** The next attempt. A poll of slashings that reads only final epochs does not put off the next one. */
  readonly nextAt: number;
  readonly isUp: boolean;
}

const TOLERANCE_MS = 50;
/** A poll may have begun so long before its last request, and a step in between counts. */
const POLL_MS = 5 * MINUTE;

/** A restart does not poll what the state says is not due: the next poll begins an interval after the last one (behaviour 11). */
export function restartsPollWhatIsDue(): Check {
  const shown = new Map<string, Shown>();
  /** The last request for each source. */
  const last = new Map<string, Sent>();
  /** The shortest configured interval of each source so far, ms. */
  const shortest = { machines: Number.POSITIVE_INFINITY, slashings: Number.POSITIVE_INFINITY };
  return {
    name: 'process: a restart polls only what is due',
    onEvent(event, world) {
      if (event.kind === 'start' || event.kind === 'reload') {
        const { machines, slashings } = event.exporter.intervals;
        shortest.machines = Math.min(shortest.machines, SECOND * machines);
        shortest.slashings = Math.min(shortest.slashings, SECOND * slashings);
      }
      // A reload may have changed a source, or brought another key.
      if (event.kind === 'reload') shown.clear();
      if (event.kind !== 'sent') return undefined;
      const { sent } = event;
      const [before, earlier] = [shown.get(sent.source), last.get(sent.source)];
      last.set(sent.source, sent);
      const isFirst = earlier !== undefined && earlier.process !== sent.process && earlier.key === sent.key;
      if (!isFirst || !before?.isUp || before.process === sent.process) return undefined;
      // What is shown may have been rendered a while before.
      const since = Math.min(earlier.at - POLL_MS, before.at - world.exporter.refreshMs - SECOND);
      if (world.traffic.stepsBetween(since, sent.at).length > 0) return undefined;
      const interval = sent.source === 'machines' ? shortest.machines : shortest.slashings;
      const early = Math.min(before.lastAt + interval, before.nextAt) - sent.ownAt;
      return early <= TOLERANCE_MS
        ? undefined
        : `${sent.source} is polled at ${when(sent.at, world)}, ${early / SECOND} s before it is due`;
    },
    onScrape(scrape: Scrape) {
      for (const [labels, seconds] of seriesNamed(scrape, 'beaconchain_source_last_attempt_timestamp_seconds')) {
        const source = [...labels.matchAll(/="([^"]*)"/g)].map(([, value]) => value).join('-');
        if (source !== 'machines' && !source.startsWith('slashings')) continue;
        const of = (what: string): number => scrape.series.get(`beaconchain_source_${what}{${labels}}`) ?? 0;
        const [lastAt, nextAt] = [SECOND * seconds, SECOND * of('next_attempt_timestamp_seconds')];
        // The clock was set back while the source was polled.
        if (lastAt > scrape.ownAt) shown.delete(source);
        else shown.set(source, { process: scrape.process, at: scrape.at, lastAt, nextAt, isUp: of('up') === 1 });
      }
      return undefined;
    },
  };
}
