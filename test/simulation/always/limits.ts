import type { Endpoint } from '../../../src/api/errors.ts';
import type { Headers } from '../../../src/budget/headers.ts';
import { MS_PER_DAY, MS_PER_HOUR } from '../../../src/lib/duration.ts';
import { SECOND } from '../../support/timing.ts';
import type { Exchange } from '../service/record.ts';
import type { Sent, TrafficEvent } from '../traffic.ts';
import type { World } from '../world.ts';
import type { Check } from './check.ts';
import { following, when } from './following.ts';

/** After so long an answer is on the disk, if the disk works. */
export const KEPT_AFTER_MS = 10_000;

type Counted = Extract<TrafficEvent, { kind: 'counted' }>;

/**
 * The window of a second refuses nothing (behaviour 7), except where the program cannot know better: others asked in
 * that second, a request was counted when its process had given it up or was dead, another replica asked, what a killed
 * process knew was lost with it, or the limit went down and no answer has said so.
 */
export function secondWindow(): Check {
  let recent: Counted[] = [];
  let othersAt = Number.NEGATIVE_INFINITY;
  const starts = new Map<number, number>();
  const ends = new Map<number, { readonly at: number; readonly why: string }>();
  const told = new ToldLimits();
  /** Endpoints whose bucket an answer has named. */
  const named = new Set<Endpoint>();

  /** Why a request in the same second may be one that the process does not count. */
  function isUnknown({ sent, at }: Counted, refused: Sent, world: World): boolean {
    const end = ends.get(sent.process);
    if (sent.endedAt !== undefined && sent.endedAt < at) return true;
    // Where answers name the buckets of others only, its own can be any of them.
    if (named.size > 0 && !named.has(sent.endpoint)) return true;
    if (sent.process === refused.process) return false;
    if (sent.host !== refused.host || !end || end.at < at) return true;
    if (end.why === 'stopped') return false;
    // A process that is killed can take everything with it. Then the next one starts as if it were the first.
    const { diskTroubleAt, lostStateAt } = world.host(sent.host);
    const startedAt = starts.get(sent.process) ?? at;
    return world.redis !== undefined || Math.max(startedAt, diskTroubleAt, lostStateAt) > at - KEPT_AFTER_MS;
  }

  return following('limits: the second window refuses nothing', (event, world) => {
    if (event.kind === 'others') othersAt = event.at;
    if (event.kind === 'start') starts.set(event.process, event.at);
    if (event.kind === 'ended') ends.set(event.process, event);
    if (event.kind === 'plan') told.changed();
    if (event.kind === 'sent') told.sent(event.sent);
    if (event.kind === 'head') {
      told.note(event.sent);
      if (event.sent.head?.headers['ratelimit-bucket'] !== undefined) named.add(event.sent.endpoint);
    }
    if (event.kind !== 'counted') return undefined;
    const { sent, exchange, at } = event;
    told.counted(sent, exchange);
    recent = recent.filter((one) => one.at > at - SECOND);
    const together = recent.filter((one) => one.exchange.bucket === exchange.bucket);
    recent.push(event);
    if (exchange.refusedBy !== 'second' || exchange.bucket === undefined) return undefined;
    // It was counted when its process had given it up, so that no other knows when.
    if (sent.endedAt !== undefined && sent.endedAt < at) return undefined;
    if (othersAt > at - SECOND || together.some((one) => isUnknown(one, sent, world))) return undefined;
    if (told.isOutdated(sent, exchange.bucket, world.service.account.plan.perSecond)) return undefined;
    return `${sent.endpoint} at ${when(sent.at, world)} is refused in bucket ${exchange.bucket}`;
  });
}

/** What the answers have said of the limits per second. */
class ToldLimits {
  #hasChanged = false;
  readonly #buckets = new WeakMap<Sent, string>();
  /** By process and bucket, in their order. */
  readonly #said = new Map<string, { readonly number: number; readonly limit: number }[]>();
  /** How many answers had come. Times are not enough: an answer can come in the same ms, but later. */
  #answers = 0;
  readonly #answersBefore = new WeakMap<Sent, number>();

  /** From now on what was told may be wrong. */
  changed(): void {
    this.#hasChanged = true;
  }

  counted(sent: Sent, { bucket }: Exchange): void {
    if (bucket !== undefined) this.#buckets.set(sent, bucket);
  }

  sent(sent: Sent): void {
    this.#answersBefore.set(sent, this.#answers);
  }

  note(sent: Sent): void {
    this.#answers += 1;
    const bucket = this.#buckets.get(sent);
    const limit = sent.head && limitOf(sent.head.headers);
    if (bucket === undefined || limit === undefined) return;
    const id = `${sent.process} ${bucket}`;
    this.#said.set(id, [...(this.#said.get(id) ?? []).slice(-20), { number: this.#answers, limit }]);
  }

  /** Whether the process that sent this could think that more is allowed. */
  isOutdated(sent: Sent, bucket: string, limit: number): boolean {
    const before = this.#answersBefore.get(sent) ?? 0;
    const known = this.#said.get(`${sent.process} ${bucket}`)?.findLast(({ number }) => number <= before);
    // An earlier process may have been told of an earlier plan.
    return known === undefined ? this.#hasChanged : known.limit > limit;
  }
}

function limitOf(headers: Headers): number | undefined {
  const text = headers['x-ratelimit-limit-second'];
  const basic = headers['ratelimit-window'] === 'second' ? headers['ratelimit-limit'] : undefined;
  const limit = Number(text ?? basic);
  return text === undefined && basic === undefined ? undefined : limit;
}

/**
 * The month and the hour refuse nothing, except where the answers do not tell what is left, where something has happened
 * to the quota since the last answer, and where the program asks whether there is more again.
 */
export function longWindows(): Check {
  /** When a process last learned what is left in a bucket. */
  const known = new Map<string, { readonly sent: Sent; readonly at: number }>();
  /** When it was last changed by somebody else, or by a request whose answer the process does not have. */
  const surprises: Record<string, number> = {};
  let surprisedAt = Number.NEGATIVE_INFINITY;
  const buckets = new WeakMap<Sent, string>();

  return following('limits: the month and the hour refuse nothing', (event, world) => {
    const { kind, at } = event;
    if (kind === 'others' || kind === 'plan' || kind === 'renewal' || kind === 'step' || kind === 'reload') {
      surprisedAt = at;
    }
    if (kind === 'head') {
      const bucket = buckets.get(event.sent);
      if (bucket !== undefined && tellsRest(event.sent)) {
        known.set(`${event.sent.process} ${event.sent.key} ${bucket}`, { sent: event.sent, at: event.at });
      }
    }
    if (kind === 'end' && event.sent.head === undefined) {
      const bucket = buckets.get(event.sent);
      if (bucket !== undefined) surprises[bucket] = at;
    }
    if (kind !== 'counted') return undefined;
    const { sent, exchange } = event;
    const { bucket, refusedBy } = exchange;
    if (bucket === undefined) return undefined;
    buckets.set(sent, bucket);
    if (sent.endedAt !== undefined && sent.endedAt < at) surprises[bucket] = at;
    if (refusedBy !== 'month' && refusedBy !== 'hour') return undefined;
    const last = known.get(`${sent.process} ${sent.key} ${bucket}`);
    if (!last || surprisedAt >= last.sent.at || (surprises[bucket] ?? 0) >= last.sent.at || last.at > sent.at) {
      return undefined;
    }
    const asks = sent.ownAt - last.sent.ownAt >= MS_PER_DAY;
    if (asks || isAfterEnd(refusedBy, last.sent.ownAt, sent.ownAt)) return undefined;
    const left = last.sent.head?.headers[`x-ratelimit-remaining-${refusedBy}`];
    return `${sent.endpoint} at ${when(sent.at, world)} is refused by the ${refusedBy}, of which ${left} were left`;
  });
}

function tellsRest({ head }: Sent): boolean {
  if (head?.status !== 200) return false;
  return ['hour', 'month'].every((window) => head.headers[`x-ratelimit-remaining-${window}`] !== undefined);
}

/** The program takes it that the hour and the month are those of the calendar. The clocks differ by seconds. */
function isAfterEnd(window: 'hour' | 'month', before: number, now: number): boolean {
  if (window === 'hour') return Math.floor(before / MS_PER_HOUR) !== Math.floor(now / MS_PER_HOUR);
  return new Date(before).getUTCMonth() !== new Date(now).getUTCMonth();
}
