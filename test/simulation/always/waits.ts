import type { Headers } from '../../../src/budget/headers.ts';
import { HOUR, MINUTE, SECOND } from '../../support/timing.ts';
import type { Sent } from '../traffic.ts';
import type { World } from '../world.ts';
import type { Check } from './check.ts';
import { storeTroubleAt } from './circumstances.ts';
import { following, when } from './following.ts';
import { isOf } from './replicas.ts';
import { Steps } from './steps.ts';

const MAX_WAIT_SECONDS = 32 * 86_400;
/** The program follows its clock in whole ms, which a step leaves inexact by some, and NTP may slew it. */
const TOLERANCE_MS = 10;
/** After so long an answer is on the disk, if the disk works at all. */
const KEPT_AFTER_MS = 5_000;

/** A 429 that was delivered, and what it demands. */
interface Closed {
  readonly by: Sent;
  readonly at: number;
  readonly waitMs: number;
  /** How many in a row have named no wait, this one included; 0: it named one. */
  readonly blind: number;
}

/** The wait where a refusal names none: it doubles (behaviour 3). */
function blindWaitMs(blind: number): number {
  return Math.min(MINUTE * 2 ** (blind - 1), HOUR);
}

/**
 * After a 429 nothing is sent in its bucket before its wait is over (behaviour 3): over restarts too, once the answer
 * could be kept. Another key is another account.
 */
export function waits(): Check {
  let closed: Closed[] = [];
  /** The bucket of each route, as the answers of a key named it last. */
  const buckets = new Map<string, { readonly name: string; readonly at: number }>();
  const ends = new Map<number, number>();
  const steps = new Steps();
  let key: string | undefined;
  /** The last refusal, if it named no wait. */
  let lastBlind: Closed | undefined;

  /** The bucket that was named for its route since a time. */
  function bucketOf(sent: Sent, since: number): string | undefined {
    const named = buckets.get(routeOf(sent));
    return named && named.at > since ? named.name : undefined;
  }

  /** Routes for which no bucket was named share one. What was named before the state was lost may or may not be known. */
  function isSameBucket(a: Sent, b: Sent, world: World): boolean {
    if (routeOf(a) === routeOf(b)) return true;
    const times = [Number.NEGATIVE_INFINITY, world.host(b.host).lostStateAt];
    return times.every((since) => bucketOf(a, since) === bucketOf(b, since));
  }

  /**
   * Whether the process that sends this can know of the wait. If it has read of it in the state, a step of the clock forward is
   * for it time that has passed.
   */
  function isKnown({ by, at }: Closed, sent: Sent, world: World): boolean {
    if (by.process === sent.process && !hasReadAgain(by, at, world)) return true;
    return wasKept(by, at, ends, world) && !steps.wentForward(by.host, at, sent.at);
  }

  return following('limits: nothing is sent before the wait after a 429 is over', (event, world) => {
    steps.note(event);
    if (event.kind === 'ended') ends.set(event.process, event.at);
    if (event.kind === 'head') {
      const { sent } = event;
      if (!sent.head) return undefined;
      const { status, headers, at } = sent.head;
      const name = String(headers['ratelimit-bucket'] ?? '').trim();
      if (name !== '') buckets.set(routeOf(sent), { name, at });
      if (status !== 429 || isRevocation(headers)) {
        // It may have been in the same bucket. Then a wait that is not named is again the first one.
        lastBlind = undefined;
        return undefined;
      }
      const told = namedWaitMs(headers, at);
      const earlier = closed.findLast((one) => isSameBucket(one.by, sent, world) && one.blind > 0 && sent.at <= one.at);
      // Those under way together that name no wait were refused by one event, whose wait is under way.
      if (told === undefined && earlier) return undefined;
      closed = closed.filter((one) => one.at + one.waitMs > at).slice(-30);
      const isNext = lastBlind?.by.process === sent.process && isSameBucket(lastBlind.by, sent, world);
      const blind = told === undefined ? 1 + (isNext ? (lastBlind?.blind ?? 0) : 0) : 0;
      const one = { by: sent, at, waitMs: told ?? blindWaitMs(blind), blind };
      closed.push(one);
      lastBlind = told === undefined ? one : undefined;
      return undefined;
    }
    if (event.kind !== 'sent') return undefined;
    const { sent } = event;
    if (sent.key !== key) {
      closed = [];
      lastBlind = undefined;
      buckets.clear();
      key = sent.key;
    }
    for (const one of closed) {
      const left = one.at + steps.shortened(one.by.host, one.at, one.waitMs, sent.at) - sent.at;
      if (left <= TOLERANCE_MS || !isSameBucket(one.by, sent, world) || !isKnown(one, sent, world)) continue;
      return `${sent.endpoint} is sent at ${when(sent.at, world)}, ${left / SECOND} s before the end of the wait of ${one.waitMs / SECOND} s from ${when(one.at, world)} on`;
    }
    return undefined;
  });
}

/** A leader reads what the last one wrote, even where that was itself. */
function hasReadAgain(by: Sent, since: number, { redis }: World): boolean {
  return redis?.record.terms.some((term) => isOf(term, by) && term.from > since) ?? false;
}

/** Whether a later process can read what this one learned: it could write it, and nothing was lost since. */
function wasKept(by: Sent, since: number, ends: ReadonlyMap<number, number>, world: World): boolean {
  const troubleAt = Math.max(storeTroubleAt(world, by.host), world.host(by.host).lostStateAt);
  if (troubleAt > since - KEPT_AFTER_MS) return false;
  const term = world.redis?.record.terms.findLast((one) => isOf(one, by) && one.from <= since);
  const writesUntil = world.redis ? (term?.renewedAt ?? 0) : (ends.get(by.process) ?? 0);
  return writesUntil > since + KEPT_AFTER_MS;
}

function routeOf({ endpoint, request }: Sent): string {
  return `${endpoint} ${request.base}`;
}

export function isRevocation(headers: Headers): boolean {
  const limits = Object.entries(headers).filter(([name]) => name.startsWith('x-ratelimit-limit-'));
  return limits.length > 0 && limits.every(([, limit]) => limit === '0');
}

/** The longer of what both headers name; undefined if none does. A date is compared with that of the answer. */
export function namedWaitMs(headers: Headers, now: number): number | undefined {
  const sentAt = Date.parse(String(headers['date'])) || now;
  const named = ['ratelimit-reset', 'retry-after'].flatMap((name) => {
    const text = String(headers[name] ?? '').trim();
    const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : (Date.parse(text) - sentAt) / SECOND;
    const isWait = /^\d+(\.\d+)?$/.test(text) || (/ GMT$/.test(text) && seconds >= 0);
    return isWait && seconds <= MAX_WAIT_SECONDS ? [seconds * SECOND] : [];
  });
  return named.length === 0 ? undefined : Math.max(...named);
}

const KEY_WAIT_MS = 10 * MINUTE;

/**
 * With a refused key one request is sent every ten minutes, and with a revoked one only after a start or a reload ten
 * minutes after the last refusal (behaviour 3 and 4). Another key starts anew.
 */
export function refusedKeys(): Check {
  let key: string | undefined;
  /** `since`: of the last refusal, or of the last request that asked. */
  let refused: { readonly how: 'refused' | 'revoked'; readonly since: number; readonly by: Sent } | undefined;
  const acts: number[] = [];
  const ends = new Map<number, number>();
  const steps = new Steps();

  return following('limits: a refused or revoked key is asked seldom', (event, world) => {
    steps.note(event);
    if (event.kind === 'ended') ends.set(event.process, event.at);
    if (event.kind === 'start' || event.kind === 'reload') acts.push(event.at);
    if (event.kind === 'head') {
      const { sent } = event;
      if (sent.key !== key || !sent.head) return undefined;
      const { status, headers, at } = sent.head;
      if (status === 401) refused = { how: 'refused', since: at, by: sent };
      else if (status === 429 && isRevocation(headers)) refused = { how: 'revoked', since: at, by: sent };
      // An answer to what was sent before the refusal is out of date; a 429 or a failure says nothing.
      else if (refused && sent.at < refused.since) return undefined;
      else if (headers['ratelimit-validapikey'] === 'true' || (status !== 429 && status < 500)) refused = undefined;
      return undefined;
    }
    if (event.kind !== 'sent') return undefined;
    const { sent } = event;
    if (sent.key !== key) refused = undefined;
    key = sent.key;
    if (!refused) return undefined;
    const { how, since, by } = refused;
    const isKnown = (by.process === sent.process && !hasReadAgain(by, since, world)) || wasKept(by, since, ends, world);
    // A process that does not know of the refusal learns of it from its own answer.
    refused = isKnown ? { how, since: sent.at, by: sent } : undefined;
    if (!isKnown || steps.any(sent.host, since, sent.at)) return undefined;
    // It was on its way to the network before the answer came.
    if (sent.at === since) return undefined;
    const isAllowed =
      how === 'refused'
        ? sent.at >= since + KEY_WAIT_MS - TOLERANCE_MS
        : acts.some((at) => at <= sent.at && at >= since + KEY_WAIT_MS - TOLERANCE_MS);
    if (isAllowed) return undefined;
    return `${sent.endpoint} is sent at ${when(sent.at, world)}, ${(sent.at - since) / SECOND} s after the key was ${how}`;
  });
}

const SAME_POLL_MS = 5 * SECOND;

/** A source whose endpoint is forbidden pauses for an hour (behaviour 3). */
export function forbiddenPauses(): Check {
  const PAUSED: readonly string[] = ['machine_metrics', 'epoch_slots'];
  const paused = new Map<string, { readonly by: Sent; readonly at: number; isOver: boolean }>();
  const steps = new Steps();
  return following('limits: a forbidden source pauses for an hour', (event, world) => {
    steps.note(event);
    if (event.kind === 'head' && event.sent.head?.status === 403 && PAUSED.includes(event.sent.endpoint)) {
      paused.set(event.sent.source, { by: event.sent, at: event.at, isOver: false });
    }
    // `latest` was refused, and then the number of the epoch was not: the poll goes on.
    if (event.kind === 'head' && event.sent.head?.status === 200 && event.sent.endpoint === 'epoch_slots') {
      const { source, at } = event.sent;
      if (at <= (paused.get(source)?.at ?? 0) + SAME_POLL_MS) paused.delete(source);
    }
    if (event.kind !== 'sent') return undefined;
    const { sent } = event;
    const pause = paused.get(sent.source);
    if (!pause || pause.by.process !== sent.process || pause.by.key !== sent.key) return undefined;
    // What remains of the same poll.
    if (sent.at <= pause.at + MINUTE) return undefined;
    if (steps.any(sent.host, pause.at, sent.at) || sent.at >= pause.at + HOUR - TOLERANCE_MS) return undefined;
    return `${sent.endpoint} is sent at ${when(sent.at, world)}, ${(sent.at - pause.at) / SECOND} s after it was forbidden`;
  });
}
