import type { Headers } from '../../../src/budget/headers.ts';
import { HOUR, MINUTE, SECOND } from '../../support/time/timing.ts';
import type { Sent, TrafficEvent } from '../traffic.ts';
import type { World } from '../world.ts';
import { type Check, when } from './check.ts';

/** After so long what a process learned is written, if writes work. */
const KEPT_AFTER_MS = 10_000;

/**
 * The window of a second refuses nothing (behaviour 7), except where the program cannot know better: others asked in
 * that second, a request was counted when its process had given it up or was dead, what a killed process knew was lost with
 * it, or the limit went down and no answer has said so.
 */
export function secondWindow(): Check {
  let recent: Sent[] = [];
  let othersAt = Number.NEGATIVE_INFINITY;
  let planAt = Number.NEGATIVE_INFINITY;
  /** When an answer to a process last reported the limit of a bucket. */
  const toldAt = new Map<string, number>();

  /** Whether a request that counts in the same second may be one that the process does not count. */
  function isUnknown(sent: Sent, at: number, refused: Sent, { traffic, host }: World): boolean {
    if (sent.endedAt !== undefined && sent.endedAt < at) return true;
    if (sent.process === refused.process) return false;
    const end = traffic.ends.get(sent.process);
    if (!end || end.at < at) return true;
    // A process that is killed can take everything with it. Then the next one starts as if it were the first.
    return end.why !== 'stopped' && Math.max(end.startedAt, host.writeTroubleAt) > at - KEPT_AFTER_MS;
  }

  return {
    name: 'limits: the second window refuses nothing',
    onEvent(event, world) {
      // Which of several buckets a request counts in is known when an answer names it.
      if (world.service.setting.buckets !== 'one') return undefined;
      if (event.kind === 'others') othersAt = event.at;
      if (event.kind === 'plan') {
        planAt = event.at;
        toldAt.clear();
      }
      if (event.kind === 'head') {
        const { sent, at } = event;
        const { head, counted, process } = sent;
        if (head && tellsSecond(head.headers) && sent.at > planAt) toldAt.set(`${process} ${counted?.bucket}`, at);
      }
      if (event.kind !== 'counted') return undefined;
      const { sent, counted, at } = event;
      recent = recent.filter((one) => Number(one.counted?.at) > at - SECOND);
      const together = recent.filter((one) => one.counted?.bucket === counted.bucket);
      recent.push(sent);
      if (counted.refusedBy !== 'second' || counted.bucket === undefined) return undefined;
      // It was counted when its process had given it up, so that no other knows when.
      if (sent.endedAt !== undefined && sent.endedAt < at) return undefined;
      if (othersAt > at - SECOND || together.some((one) => isUnknown(one, Number(one.counted?.at), sent, world)))
        return undefined;
      const told = toldAt.get(`${sent.process} ${counted.bucket}`) ?? Number.POSITIVE_INFINITY;
      if (planAt > Number.NEGATIVE_INFINITY && told >= sent.at) return undefined;
      return `${sent.endpoint} at ${when(sent.at, world)} is refused in bucket ${counted.bucket}`;
    },
  };
}

function tellsSecond(headers: Headers): boolean {
  return headers['x-ratelimit-limit-second'] !== undefined || headers['ratelimit-window'] === 'second';
}

/** After these, the quota that an answer reported may be wrong. */
const SURPRISES: readonly TrafficEvent['kind'][] = ['others', 'plan', 'step', 'reload'];

/**
 * The month and the hour refuse nothing, except where the answers do not report the remaining requests, and where
 * something has happened to the quota since the last answer.
 */
export function longWindows(): Check {
  /** The last request whose answer reported the remaining requests of a bucket. */
  const known = new Map<string, { readonly sent: Sent; readonly at: number }>();
  /** When a bucket was last changed by a request whose answer the process does not have. */
  const unheard = new Map<string, number>();
  let surprisedAt = Number.NEGATIVE_INFINITY;
  return {
    name: 'limits: the month and the hour refuse nothing',
    onEvent(event, world) {
      const { kind, at } = event;
      if (SURPRISES.includes(kind)) surprisedAt = at;
      if (kind !== 'head' && kind !== 'end' && kind !== 'counted') return undefined;
      const { sent } = event;
      const { bucket, refusedBy } = sent.counted ?? {};
      if (bucket === undefined) return undefined;
      const id = `${sent.process} ${sent.key} ${bucket}`;
      if (kind === 'head' && tellsRest(sent)) known.set(id, { sent, at });
      if (kind === 'end' && sent.head === undefined) unheard.set(bucket, at);
      if (kind !== 'counted') return undefined;
      if (sent.endedAt !== undefined && sent.endedAt < at) unheard.set(bucket, at);
      if (refusedBy !== 'month' && refusedBy !== 'hour') return undefined;
      const last = known.get(id);
      const changedAt = Math.max(surprisedAt, unheard.get(bucket) ?? surprisedAt);
      if (!last || changedAt >= last.sent.at || last.at > sent.at) return undefined;
      if (isAfterEnd(refusedBy, last.sent.ownAt, sent.ownAt)) return undefined;
      const left = last.sent.head?.headers[`x-ratelimit-remaining-${refusedBy}`];
      return `${sent.endpoint} at ${when(sent.at, world)} is refused by the ${refusedBy}, of which ${left} were left`;
    },
  };
}

function tellsRest({ head }: Sent): boolean {
  if (head?.status !== 200) return false;
  return ['hour', 'month'].every((window) => head.headers[`x-ratelimit-remaining-${window}`] !== undefined);
}

/** A month counts as begun when that has held for so long (behaviour 39a). */
const MONTH_LATE_MS = 2 * MINUTE;

/** The program takes it that the hour and the month are those of the calendar. The clocks differ by seconds. */
function isAfterEnd(window: 'hour' | 'month', before: number, now: number): boolean {
  if (window === 'hour') return Math.floor(before / HOUR) !== Math.floor(now / HOUR);
  return new Date(before - MONTH_LATE_MS).getUTCMonth() !== new Date(now).getUTCMonth();
}
