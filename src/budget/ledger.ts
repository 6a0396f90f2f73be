import * as z from 'zod';
import { MS_PER_MINUTE } from '../toolkit/lib/duration.ts';
import type { Time } from '../toolkit/lib/held-time.ts';
import type { Milliseconds, UnixMs } from '../toolkit/lib/time.ts';
import {
  Bucket,
  type BudgetOptions,
  chargeBucket,
  EMPTY_BUCKET,
  isAsking,
  isForMonth,
  observeBucket,
  quotaOf,
  settled as settledBucket,
  unchargeBucket,
  waitMoved,
} from './bucket.ts';
import { isBucketName, type Observation } from './headers.ts';
import { unixMs } from './long-window.ts';

const BucketName = z.string().refine(isBucketName);

/**
 * The limits of the account and the status of the key. Plain data: it is persisted as it is.
 * A route is an endpoint on a host; routes of one bucket share its limits.
 */
export const Ledger = z.object({
  buckets: z.record(z.string(), Bucket),
  /** The bucket of each route, if a response has named it. */
  routes: z.record(z.string(), BucketName),
  /** The bucket of all other routes: the first one that a response named. */
  otherRoutes: BucketName,
  key: z.object({
    /** A digest of the key to which this ledger belongs. '' before the first key. */
    fingerprint: z.string(),
    /** As last reported by the service. */
    standing: z.enum(['unknown', 'valid', 'refused', 'revoked']),
    /** When the service last reported the status, or we last asked for it. */
    since: unixMs,
    /** If revoked: one request may ask whether access is back. If refused: by a single 401, so the wait is a minute. */
    mayProbe: z.boolean(),
    /** `ratelimit-validapikey` of the last response that had it. */
    validHeader: z.boolean().optional(),
  }),
  /** The correction of our clock when this was written. */
  correctionMs: z.number().exactOptional(),
  /** When the daemon wrote it. A backfill keeps the time. */
  aliveAt: unixMs.exactOptional(),
});
export type Ledger = z.infer<typeof Ledger>;

/** The name of the bucket of all routes until a response names one. */
export const UNNAMED = '';

interface AnswerHead {
  /** Whether its request asked if a refused or revoked key works again. */
  readonly isProbe: boolean;
  readonly status: number;
  readonly revoked: boolean;
  readonly observation: Observation;
  /** Requests of ours that the service may have charged after this one. */
  readonly unaccounted: number;
}

/** A single 401 may be a passing failure of the service. */
const FIRST_REFUSED_KEY_WAIT_MS = MS_PER_MINUTE;
const REFUSED_KEY_WAIT_MS = 10 * MS_PER_MINUTE;
/** A start or reload before this time after a refusal asks nothing. */
export const ASK_AGAIN_AFTER_MS = 10 * MS_PER_MINUTE;

const UNKNOWN_KEY: Ledger['key'] = { fingerprint: '', standing: 'unknown', since: 0, mayProbe: false };

export function emptyLedger(): Ledger {
  return { buckets: { [UNNAMED]: EMPTY_BUCKET }, routes: {}, otherRoutes: UNNAMED, key: UNKNOWN_KEY };
}

/**
 * The ledger for the key of a start or reload. Another key may belong to another account, so its ledger is empty. With the same key,
 * one request may ask whether access is still revoked or a quota has changed, if the last response is old enough. It waits for the end
 * of a short wait.
 */
export function withKey(ledger: Ledger, fingerprint: string, now: UnixMs): Ledger {
  const { key, aliveAt } = ledger;
  if (key.fingerprint !== fingerprint) {
    return { ...emptyLedger(), key: { ...UNKNOWN_KEY, fingerprint }, ...(aliveAt !== undefined && { aliveAt }) };
  }
  if (now - key.since < ASK_AGAIN_AFTER_MS) return ledger;
  const mayProbe = key.standing === 'revoked';
  const asking = mapBuckets(ledger, (bucket) =>
    mayProbe || isWorthAsking(bucket, now) ? { ...bucket, askedAt: now } : bucket,
  );
  return { ...asking, key: { ...key, mayProbe } };
}

/** Whether a quota limits us. A 429 is a response, too. */
function isWorthAsking({ month, wait }: Bucket, now: UnixMs): boolean {
  if (now - wait.at < ASK_AGAIN_AFTER_MS) return false;
  return wait.until > now ? isForMonth(wait) : month !== undefined;
}

/** The ledger at this time. A time in the future is from before the clock was set back. */
export function settled(ledger: Ledger, time: Time): Ledger {
  const { key } = ledger;
  const buckets = mapBuckets(ledger, (bucket) => settledBucket(bucket, time));
  return { ...buckets, key: { ...key, since: Math.min(key.since, time.now) } };
}

/**
 * The ledger as an earlier process left it. No response has corrected our clock yet: if the clock is still as fast, a wait ends at the
 * same moment. If the clock was slow, or has been set right, the wait is in the future, so it restarts (`settled`).
 */
export function atStart({ correctionMs = 0, ...ledger }: Ledger): Ledger {
  const fastMs = Math.max(0, -correctionMs);
  const { key } = ledger;
  return {
    ...mapBuckets(ledger, (bucket) => ({ ...bucket, wait: waitMoved(bucket.wait, fastMs) })),
    key: { ...key, since: key.since + fastMs },
  };
}

/** The ledger as a process writes it that may send requests for `ms` before it writes again. */
export function lacking(ledger: Ledger, ms: Milliseconds): Ledger {
  return mapBuckets(ledger, (bucket) => ({ ...bucket, lacksMs: (bucket.lacksMs ?? 0) + ms }));
}

function mapBuckets(ledger: Ledger, change: (bucket: Bucket) => Bucket): Ledger {
  const buckets = Object.entries(ledger.buckets).map(([name, bucket]) => [name, change(bucket)]);
  return { ...ledger, buckets: Object.fromEntries(buckets) };
}

/** The name of the bucket of a route. */
export function bucketOf(ledger: Ledger, route: string): string {
  return ledger.routes[route] ?? ledger.otherRoutes;
}

/** Whether the service accepts the key, and the remaining requests are known. */
export function areLimitsKnown({ key, buckets }: Ledger, options: BudgetOptions, now: UnixMs): boolean {
  return key.standing === 'valid' && Object.values(buckets).every((bucket) => !isAsking(bucket, options, now));
}

/**
 * The buckets in which a request may count. A route whose bucket no response has named may belong to any bucket, or to a new one with
 * the lowest limit.
 */
export function bucketsOf({ routes, buckets }: Ledger, route: string): readonly string[] {
  const { [route]: assigned } = routes;
  return assigned === undefined ? [...new Set([UNNAMED, ...Object.keys(buckets)])] : [assigned];
}

/** When the next request on this route may be sent, apart from the second window. Infinity: only after a new key or a restart. */
export function opensAt(ledger: Ledger, route: string, options: BudgetOptions, now: UnixMs): UnixMs {
  const bucket = ledger.buckets[bucketOf(ledger, route)] ?? EMPTY_BUCKET;
  return Math.max(quotaOf(bucket, options, now).closedUntil, keyAt(ledger));
}

/** The earliest time the key may be used. Infinity: only after a new key or a restart. */
export function keyAt({ key }: Ledger): UnixMs {
  switch (key.standing) {
    case 'refused':
      return key.since + (key.mayProbe ? FIRST_REFUSED_KEY_WAIT_MS : REFUSED_KEY_WAIT_MS);
    case 'revoked':
      return key.mayProbe ? 0 : Number.POSITIVE_INFINITY;
    default:
      return 0;
  }
}

/** Whether the key is refused or revoked. A request sent now is its probe. */
export function isKeyClosed({ key }: Ledger): boolean {
  return key.standing === 'refused' || key.standing === 'revoked';
}

/** The ledger after a request was sent. With a refused or revoked key this request is the probe, and all others wait for its response. */
export function sent(ledger: Ledger, route: string, options: BudgetOptions, now: UnixMs): Ledger {
  const { key } = ledger;
  return {
    ...withBucket(ledger, route, (bucket) => chargeBucket(bucket, options, now)),
    key: isKeyClosed(ledger) ? { ...key, since: now, mayProbe: key.mayProbe && key.standing === 'refused' } : key,
  };
}

/** The ledger after a request whose connection failed or timed out. The service may not have charged it. */
export function unanswered(ledger: Ledger, route: string, options: BudgetOptions, now: UnixMs): Ledger {
  return withBucket(ledger, route, (bucket) => unchargeBucket(bucket, options, now));
}

function withBucket(ledger: Ledger, route: string, change: (bucket: Bucket) => Bucket): Ledger {
  const name = bucketOf(ledger, route);
  return { ...ledger, buckets: { ...ledger.buckets, [name]: change(ledger.buckets[name] ?? EMPTY_BUCKET) } };
}

/** Applies a response: the bucket of the route, its limits, a wait, the status of the key. */
export function answered(
  ledger: Ledger,
  route: string,
  answer: AnswerHead,
  options: BudgetOptions,
  now: UnixMs,
): Ledger {
  const key = keyAfter(ledger, answer, now);
  // Bucket and limits are those of callers without a key, and the service does not charge the account.
  if (answer.status === 401) return { ...unanswered(ledger, route, options, now), key };
  const assigned = assign(ledger, route, answer.observation);
  // The limits of 0 and the reset of a revocation are not real. As after every 429, the request is free.
  if (answer.revoked) return { ...unanswered(assigned, route, options, now), key };
  return { ...withBucket(assigned, route, (bucket) => observeBucket(bucket, answer, options, now)), key };
}

/** The service has a handful. Each is kept, and is a series. A route that would need one more stays in its bucket. */
const MAX_BUCKETS = 16;

function assign(ledger: Ledger, route: string, { bucket, limits }: Observation): Ledger {
  if (ledger.otherRoutes === UNNAMED) return bucket === undefined ? ledger : nameBucket(ledger, route, bucket);
  // Limits without a bucket name belong to the assumed bucket of the route.
  if (bucket === undefined && limits.second === undefined) return ledger;
  const isTooMany =
    bucket !== undefined && !(bucket in ledger.buckets) && Object.keys(ledger.buckets).length >= MAX_BUCKETS;
  const name = bucket === undefined || isTooMany ? bucketOf(ledger, route) : bucket;
  return { ...ledger, routes: { ...ledger.routes, [route]: name } };
}

/** The first name is that of the bucket that we assumed for all routes. */
function nameBucket(ledger: Ledger, route: string, bucket: string): Ledger {
  const { [UNNAMED]: unnamed = EMPTY_BUCKET, ...named } = ledger.buckets;
  return {
    ...ledger,
    routes: { ...ledger.routes, [route]: bucket },
    otherRoutes: bucket,
    buckets: { ...named, [bucket]: unnamed },
  };
}

function keyAfter(ledger: Ledger, answer: AnswerHead, now: UnixMs): Ledger['key'] {
  const { key: before } = ledger;
  const { isProbe, status, revoked, observation } = answer;
  // The header of a 401 says the same as the status. Not kept, because later responses may have none.
  const validKey = status === 401 ? undefined : observation.validKey;
  const key = validKey === undefined ? before : { ...before, validHeader: validKey };
  if (revoked) return { ...key, standing: 'revoked', since: now, mayProbe: false };
  if (status === 401) {
    const mayProbe = !isKeyClosed(ledger) || (before.mayProbe && !isProbe);
    return { ...key, standing: 'refused', since: now, mayProbe };
  }
  // The request left before the refusal of the key, so its response is out of date.
  if (isKeyClosed(ledger) && !isProbe) return before;
  // A 429 or a server error says nothing about the key, unless a header calls it valid.
  const isSilent = validKey !== true && (status === 429 || status >= 500);
  if (isSilent && key.standing !== 'unknown') return key;
  return { ...key, standing: 'valid', since: now, mayProbe: false };
}
