import { MINUTE, SECOND } from '../../support/timing.ts';
import type { Sent } from '../traffic.ts';
import type { Check } from './check.ts';
import { following, when } from './following.ts';

/** A sweep of many pages is read in two halves at once. */
const AT_ONCE = 2;

/**
 * No two polls of a source overlap (behaviour 11). A poll may have several requests under way, but never two that are the
 * same, and a sweep at most two for pages of all machines.
 */
export function noOverlap(): Check {
  const underWay = new Map<string, Sent[]>();
  return following('requests: no two polls of a source overlap', (event, world) => {
    if (event.kind !== 'sent' && event.kind !== 'end') return undefined;
    const { sent } = event;
    const isSweep = sent.endpoint === 'machine_metrics' && !sent.request.body?.includes('"machines"');
    const id = `${sent.process} ${isSweep ? '' : `${sent.request.base}${sent.request.path}${sent.request.body}`}`;
    if (event.kind === 'end') {
      const others = underWay.get(id)?.filter((one) => one !== sent) ?? [];
      if (others.length > 0) underWay.set(id, others);
      else underWay.delete(id);
      return undefined;
    }
    const before = (underWay.get(id) ?? []).filter(({ endedAt }) => endedAt === undefined || endedAt > sent.at);
    underWay.set(id, [...before, sent]);
    if (before.length < (isSweep ? AT_ONCE : 1)) return undefined;
    const since = before.map(({ at }) => when(at, world)).join(', ');
    return `${sent.endpoint} is sent at ${when(sent.at, world)} while those of ${since} are under way`;
  });
}

/** Whether the answer was none, or one that could not be used. */
function hasFailed({ head, failure }: Sent): boolean {
  return failure !== undefined || head?.status !== 200;
}

const MAX_TIMES = 3;
/** Statuses that another try does not change. */
const FINAL: readonly number[] = [400, 401, 403, 404, 405];
/** Another poll can ask the same, but not so soon. */
const RETRIED_WITHIN_MS = 5_000;

/** A poll that failed is made again after half a minute at the soonest. Its first request may have had to wait. */
const NEXT_POLL_MS = 15_000;
const HELD_UP_MS = 5 * MINUTE;

/** A request that is sent again and again. */
interface Try {
  readonly at: number;
  /** Whether another source's request was sent shortly before, so that this one may have waited for its turn. */
  readonly hasWaited: boolean;
}

/** A request is sent again twice at most, and not at all after an answer that another try does not change (behaviour 3). */
export function fewRetries(): Check {
  const last = new Map<string, { readonly sent: Sent; readonly what: string; readonly times: number }>();
  /** The times of what is sent again and again because it fails, by process and request. */
  const vain = new Map<string, readonly Try[]>();
  /** What each process sent last. */
  const newest = new Map<number, Sent>();
  /** When a 429 last held up the polls. */
  let refusedAt = Number.NEGATIVE_INFINITY;
  let changedAt = Number.NEGATIVE_INFINITY;
  return following('requests: few retries', (event, world) => {
    // After either, the next poll can be due at once.
    if (event.kind === 'reload' || event.kind === 'step') {
      vain.clear();
      changedAt = event.at;
    }
    if (event.kind === 'head' && event.sent.head?.status === 429) refusedAt = event.at;
    if (event.kind !== 'sent') return undefined;
    const { sent } = event;
    const { base, path, body = '' } = sent.request;
    const what = `${sent.key} ${base}${path} ${body}`;
    const id = `${sent.process} ${sent.source}`;
    const before = last.get(id);
    const isAgain = before?.what === what;
    const isSweep = sent.endpoint === 'machine_metrics';
    // Only a sweep never asks for the same in two polls, because its range ends at another time.
    const times = isAgain && isSweep ? before.times + 1 : 1;
    last.set(id, { sent, what, times });
    // A replica that leads again goes on with its sweep.
    const wasCutOff = before !== undefined && world.redisTroubleAt > before.sent.at - MINUTE;
    if (times > MAX_TIMES && !wasCutOff)
      return `${sent.endpoint} at ${when(sent.at, world)} is sent for the ${times}th time`;
    // After a 429 the wait that it names comes first, and others may use what is free before this request.
    const isVain = isAgain && hasFailed(before.sent) && before.sent.head?.status !== 429 && !isLater(before.sent, sent);
    const { process, source } = sent;
    const previous = newest.get(process);
    newest.set(process, sent);
    const hasWaited = previous !== undefined && previous.source !== source && sent.at - previous.at < RETRIED_WITHIN_MS;
    const tries = [...(isVain ? (vain.get(id) ?? []) : []), { at: sent.at, hasWaited }];
    vain.set(id, tries);
    const first = tries.at(-1 - MAX_TIMES);
    const since = sent.at - (first?.at ?? Number.NEGATIVE_INFINITY);
    // A poll that was held up may be followed at once by the next one, which does not wait as long as another try would.
    const isTry = sent.at - (tries.at(-2)?.at ?? 0) >= (tries.at(-2)?.at ?? 0) - (tries.at(-3)?.at ?? 0);
    const wasHeldUp = sent.at - refusedAt < HELD_UP_MS || first?.hasWaited === true;
    // Where the rate spaces the tries, the next poll looks like one of them.
    const isSpaced = world.service.account.plan.perSecond * world.exporter.utilization < 1;
    if (since < NEXT_POLL_MS && isTry && !wasHeldUp && !isSpaced && world.exporter.replicas === 0)
      return `${sent.endpoint} at ${when(sent.at, world)} is sent for the ${MAX_TIMES + 1}th time in ${since} ms`;
    const { head } = before?.sent ?? {};
    if (!isAgain || !head || !FINAL.includes(head.status) || sent.at >= head.at + RETRIED_WITHIN_MS) return undefined;
    // A replica that leads again begins its poll again.
    if (world.exporter.replicas > 0 || sent.at < changedAt + RETRIED_WITHIN_MS) return undefined;
    return `${sent.endpoint} at ${when(sent.at, world)} is sent again after a ${head.status}`;
  });
}

/** Whether it is sent so long after the end of the other that it belongs to another poll. */
function isLater({ endedAt }: Sent, { at }: Sent): boolean {
  return endedAt !== undefined && at - endedAt > RETRIED_WITHIN_MS;
}

/** After a reload that changes nothing for any source, no request is given up (behaviour 35). */
export function reloadsEndNothing(): Check {
  /** The configuration that each process has read. */
  const read = new Map<number, string>();
  /** When a process last read the one that it had. */
  const same = new Map<number, number>();
  return following('requests: a reload ends no poll', (event, world) => {
    if (event.kind === 'start') read.set(event.process, JSON.stringify(event.exporter));
    if (event.kind === 'reload') {
      const now = JSON.stringify(event.exporter);
      if (read.get(event.process) === now) same.set(event.process, event.at);
      else same.delete(event.process);
      read.set(event.process, now);
    }
    if (event.kind !== 'end' || world.exporter.replicas > 0) return undefined;
    const { sent, at } = event;
    if (sent.failure !== 'aborted' || same.get(sent.process) !== at) return undefined;
    // The time for an answer may end with the same ms.
    if (at - sent.at >= SECOND * world.exporter.timeoutSeconds) return undefined;
    const { process } = world.host(sent.host);
    if (process?.number !== sent.process || process.isStopping) return undefined;
    return `${sent.endpoint}, sent at ${when(sent.at, world)}, is given up at ${when(at, world)}`;
  });
}
