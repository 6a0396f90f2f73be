import type { Headers } from '../../../src/budget/headers.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../support/time/timing.ts';
import type { Sent } from '../traffic.ts';
import type { World } from '../world.ts';
import { type Check, when } from './check.ts';

/** The program follows its clock in whole ms, which a step leaves inexact by some. */
const TOLERANCE_MS = 10;
/** After so long what a process learned is written, if writes work at all. */
const KEPT_AFTER_MS = 5_000;
/** So long after the last answer a refused key is tried again, and a start or a reload asks. */
const ASKS_AFTER_MS = 10 * MINUTE - TOLERANCE_MS;

/** Whether a later process can read what this one learned: it had the time to write it. */
function wasKept(by: Sent, since: number, { traffic, host }: World): boolean {
  const endedAt = traffic.ends.get(by.process)?.at ?? Number.POSITIVE_INFINITY;
  return host.writeTroubleAt <= since - KEPT_AFTER_MS && endedAt > since + KEPT_AFTER_MS;
}

/** A 429 that was delivered, and what it demands. */
interface Closed {
  readonly by: Sent;
  readonly at: number;
  readonly waitMs: number;
}

/**
 * After a 429 nothing is sent before its wait is over (behaviour 3): over restarts too, once the answer could be kept.
 * Another key is another account. A start or a reload may ask once in a wait for the end of the month (behaviour 8). A wait that is not named is at least a minute. Judged where all share one bucket.
 */
export function waits(): Check {
  let closed: Closed[] = [];
  let key: string | undefined;

  function onHead(sent: Sent, at: number, { status, headers }: NonNullable<Sent['head']>): void {
    if (status !== 429 || isRevocation(headers)) return;
    const named = namedWaitMs(headers, at);
    // Those under way together that name no wait were refused by one event, whose wait is under way.
    if (named === undefined && closed.some((one) => sent.at <= one.at)) return;
    const isOpen = (one: Closed): boolean => one.at + one.waitMs > at;
    closed = [...closed.filter(isOpen).slice(-30), { by: sent, at, waitMs: named ?? MINUTE }];
  }

  function use(another: string): void {
    if (another !== key) closed = [];
    key = another;
  }

  return {
    name: 'limits: nothing is sent before the wait after a 429 is over',
    onEvent(event, world) {
      if (world.service.setting.buckets !== 'one') return undefined;
      if (event.kind === 'start' || event.kind === 'reload') {
        const isLate = (at: number) =>
          event.at - at >= ASKS_AFTER_MS || world.traffic.stepsBetween(at, event.at).length > 0;
        closed = closed.filter(({ at, waitMs }) => waitMs <= HOUR || !isLate(at));
      }
      if (event.kind === 'reload') use(event.exporter.key);
      if (event.kind === 'head' && event.sent.head) onHead(event.sent, event.at, event.sent.head);
      if (event.kind !== 'sent') return undefined;
      const { sent } = event;
      use(sent.key);
      for (const one of closed) {
        const left = endOf(one, sent.at, world) - sent.at;
        if (left <= TOLERANCE_MS || !isKnown(one, sent, world) || isOfNobody(one.by)) continue;
        return `${sent.endpoint} is sent at ${when(sent.at, world)}, ${left / SECOND} s before the end of the wait of ${one.waitMs / SECOND} s from ${when(one.at, world)} on`;
      }
      return undefined;
    },
  };
}

/** An answer without a header of the service needs its whole body to show who sent it (behaviour 2a). */
function isOfNobody({ failure, endedAt, head }: Sent): boolean {
  const isWhole = endedAt !== undefined && failure === undefined;
  return !isWhole && !Object.keys(head?.headers ?? {}).some((name) => /^(x-)?ratelimit-/.test(name));
}

/** Whether the process that sends this can know of the wait. To a later one a step forward is time that has passed. */
function isKnown({ by, at }: Closed, sent: Sent, world: World): boolean {
  if (by.process === sent.process) return true;
  return wasKept(by, at, world) && world.traffic.stepsBetween(at, sent.at).every(({ byMs }) => byMs <= 0);
}

/** When a wait is over at the earliest: it ends by the clock of the program, whose step forward may be time that passed. */
function endOf({ at, waitMs }: Closed, until: number, { traffic }: World): number {
  const forward = traffic.stepsBetween(at, until).map(({ byMs }) => Math.max(0, byMs));
  return forward.reduce((end, byMs) => end - byMs, at + waitMs);
}

export function isRevocation(headers: Headers): boolean {
  const limits = Object.entries(headers).filter(([name]) => name.startsWith('x-ratelimit-limit-'));
  return limits.length > 0 && limits.every(([, limit]) => limit === '0');
}

/** The longer of what both headers name; undefined if none does. A date is compared with that of the answer. */
function namedWaitMs(headers: Headers, now: number): number | undefined {
  const sentAt = Date.parse(String(headers['date'])) || now;
  const named = ['ratelimit-reset', 'retry-after'].flatMap((name) => {
    const text = String(headers[name] ?? '').trim();
    const isNumber = /^\d+(\.\d+)?$/.test(text);
    const ms = isNumber ? Number(text) * SECOND : Date.parse(text) - sentAt;
    return (isNumber || / GMT$/.test(text)) && ms >= 0 && ms <= 32 * DAY ? [ms] : [];
  });
  return named.length === 0 ? undefined : Math.max(...named);
}

/**
 * With a refused key one request is sent a minute later, until one is answered by another 401. Then it is one every ten minutes.
 * With a revoked key it is only after a start or a reload ten minutes after the last refusal (behaviour 3 and 4). Another key
 * starts anew.
 */
export function refusedKeys(): Check {
  let key: string | undefined;
  /** `since`: of the last refusal, or of the last request that asked. */
  let refused:
    | { readonly how: 'refused' | 'revoked'; readonly since: number; readonly by: Sent; readonly isFirst: boolean }
    | undefined;
  let actedAt = Number.NEGATIVE_INFINITY;

  function onHead(sent: Sent, at: number, { status, headers }: NonNullable<Sent['head']>): void {
    if (sent.key !== key) return;
    if (status === 401) refused = { how: 'refused', since: at, by: sent, isFirst: !refused || sent.at < refused.since };
    else if (status === 429 && isRevocation(headers)) refused = { how: 'revoked', since: at, by: sent, isFirst: false };
    // An answer to what was sent before the refusal is out of date; a 429 or a failure says nothing.
    else if (refused && sent.at < refused.since) return;
    else if (headers['ratelimit-validapikey'] === 'true' || (status !== 429 && status < 500)) refused = undefined;
  }

  return {
    name: 'limits: a refused or revoked key is asked seldom',
    onEvent(event, world) {
      if (event.kind === 'start' || event.kind === 'reload') actedAt = event.at;
      if (event.kind === 'reload' && event.exporter.key !== key) refused = undefined;
      if (event.kind === 'head' && event.sent.head) onHead(event.sent, event.at, event.sent.head);
      if (event.kind !== 'sent') return undefined;
      const { sent } = event;
      if (sent.key !== key) refused = undefined;
      key = sent.key;
      if (refused?.by.head && isOfNobody(refused.by)) refused = undefined;
      if (!refused) return undefined;
      const { how, since, by, isFirst } = refused;
      const isKnown = by.process === sent.process || wasKept(by, since, world);
      // A process that does not know of the refusal learns of it from its own answer.
      refused = isKnown ? { how, since: sent.at, by: sent, isFirst } : undefined;
      // It was on its way to the network before the answer came.
      if (!isKnown || sent.at === since || world.traffic.stepsBetween(since, sent.at).length > 0) return undefined;
      const asksAt = since + (isFirst ? MINUTE - TOLERANCE_MS : ASKS_AFTER_MS);
      if (how === 'refused' ? sent.at >= asksAt : actedAt >= asksAt) return undefined;
      return `${sent.endpoint} is sent at ${when(sent.at, world)}, ${(sent.at - since) / SECOND} s after the key was ${how}`;
    },
  };
}
