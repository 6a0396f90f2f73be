import { z } from 'zod';
import type { UnixMs } from '../lib/time.ts';
import {
  Bucket,
  type BudgetOptions,
  bucketOpensAt,
  chargeBucket,
  EMPTY_BUCKET,
  observeBucket,
  withoutAnswer,
} from './bucket.ts';
import { isBucketName, type Observation } from './headers.ts';
import { unixMs } from './long-window.ts';
import { bucketProbeAt, type Quota, quotaOf } from './quota.ts';

const BucketName = z.string().refine(isBucketName);

/** What the service last said of the key. */
const KeyStatus = z.enum(['unknown', 'valid', 'refused', 'revoked']);

const Key = z.object({
  /** A digest, to tell whether the key is the one that all this is about; '' before the first. */
  fingerprint: z.string(),
  standing: KeyStatus,
  /** Unix ms: when the service last said so, or was last asked whether it still holds. */
  since: unixMs,
  /** Revoked only: one request may leave to see whether it still holds. */
  mayProbe: z.boolean(),
  /** `ratelimit-validapikey` of the last answer that had it. */
  validHeader: z.boolean().optional(),
});

/**
 * What is known of the account's limits and of the key. Plain data: it is persisted as it is.
 * A route is an endpoint on a host; routes of one bucket share its limits.
 */
export const Ledger = z.object({
  buckets: z.record(z.string(), Bucket),
  /** The bucket of each route; called so in the files of earlier versions. */
  lanes: z.record(z.string(), BucketName),
  /** The bucket of routes that no answer has assigned yet: the first that an answer named. */
  shared: BucketName,
  key: Key,
});
export type Ledger = z.infer<typeof Ledger>;

/** The name of the bucket of all routes until an answer names one. */
export const UNASSIGNED = '';

/** The head of an answer. */
interface AnswerHead {
  /** When its request left, Unix ms. */
  readonly sentAt: UnixMs;
  readonly status: number;
  readonly revoked: boolean;
  readonly observation: Observation;
  /** Requests of ours that may have been charged after this one. */
  readonly unaccounted: number;
}

const REFUSED_KEY_WAIT_MS = 600_000;
const REVOKED_PROBE_AFTER_MS = 600_000;

const UNKNOWN_KEY: Ledger['key'] = { fingerprint: '', standing: 'unknown', since: 0, mayProbe: false };

export function emptyLedger(): Ledger {
  return { buckets: { [UNASSIGNED]: EMPTY_BUCKET }, lanes: {}, shared: UNASSIGNED, key: UNKNOWN_KEY };
}

/**
 * The operator starts or reloads the program with this key. Another key may be of another account: nothing is known of
 * it. The same one may, if access was revoked long enough ago, ask once whether it still is.
 */
export function withKey(ledger: Ledger, fingerprint: string, now: UnixMs): Ledger {
  const { key } = ledger;
  if (key.fingerprint !== fingerprint) return { ...emptyLedger(), key: { ...UNKNOWN_KEY, fingerprint } };
  const mayProbe = key.standing === 'revoked' && now - key.since >= REVOKED_PROBE_AFTER_MS;
  return mayProbe ? { ...ledger, key: { ...key, mayProbe } } : ledger;
}

/** The name of the bucket that a route draws from, as far as known. */
export function bucketOf(ledger: Ledger, route: string): string {
  return ledger.lanes[route] ?? ledger.shared;
}

/** The limits as far as known: another text where any has changed. */
export function limitsOf({ buckets }: Ledger): string {
  return JSON.stringify(Object.entries(buckets).map(([name, { limits }]) => [name, limits]));
}

/** Whether an answer has told which bucket the route draws from. */
export function isAssigned(ledger: Ledger, route: string): boolean {
  return ledger.lanes[route] !== undefined;
}

/** Unix ms from which a request on this route may leave, the second window apart; Infinity: not on its own. */
export function opensAt(ledger: Ledger, route: string, options: BudgetOptions, now: UnixMs): UnixMs {
  const bucket = ledger.buckets[bucketOf(ledger, route)] ?? EMPTY_BUCKET;
  return Math.max(bucketOpensAt(bucket, options, now), keyOpensAt(ledger));
}

/** How it stands with the quota of a bucket, while the key is taken. */
export function quotaIn(ledger: Ledger, bucket: string, options: BudgetOptions, now: UnixMs): Quota {
  const quota = quotaOf(ledger.buckets[bucket] ?? EMPTY_BUCKET, options, now);
  return { ...quota, probeAt: Math.max(quota.probeAt, keyOpensAt(ledger)) };
}

/** Whether a request on this route may leave now to ask whether more is left than is known. */
export function isProbeDue(ledger: Ledger, route: string, now: UnixMs): boolean {
  const bucket = ledger.buckets[bucketOf(ledger, route)] ?? EMPTY_BUCKET;
  return now >= Math.max(bucketProbeAt(bucket), keyOpensAt(ledger));
}

function keyOpensAt({ key }: Ledger): UnixMs {
  switch (key.standing) {
    case 'refused':
      return key.since + REFUSED_KEY_WAIT_MS;
    case 'revoked':
      return key.mayProbe ? 0 : Number.POSITIVE_INFINITY;
    default:
      return 0;
  }
}

/** A request leaves. With a refused or revoked key it is the one that may ask: the next waits for its answer. */
export function sent(ledger: Ledger, route: string, options: BudgetOptions, now: UnixMs): Ledger {
  const { key, buckets } = ledger;
  const name = bucketOf(ledger, route);
  const isProbe = key.standing === 'refused' || key.standing === 'revoked';
  return {
    ...ledger,
    buckets: { ...buckets, [name]: chargeBucket(buckets[name] ?? EMPTY_BUCKET, options, now) },
    key: isProbe ? { ...key, since: now, mayProbe: false } : key,
  };
}

/** The connection failed, or the time was up. */
export function unanswered(ledger: Ledger, route: string, options: BudgetOptions, now: UnixMs): Ledger {
  const name = bucketOf(ledger, route);
  const bucket = ledger.buckets[name];
  const freed = bucket && withoutAnswer(bucket, options, now);
  return freed ? { ...ledger, buckets: { ...ledger.buckets, [name]: freed } } : ledger;
}

/** What an answer teaches: the route's bucket, its limits, a wait, the standing of the key. */
export function answered(
  ledger: Ledger,
  route: string,
  answer: AnswerHead,
  options: BudgetOptions,
  now: UnixMs,
): Ledger {
  const assigned = assign(ledger, route, answer.observation);
  const name = bucketOf(assigned, route);
  const bucket = assigned.buckets[name] ?? EMPTY_BUCKET;
  // The zeros of a revocation are no limits, and its reset is no time.
  const observed = answer.revoked ? bucket : observeBucket(bucket, answer, options, now);
  return {
    ...assigned,
    buckets: { ...assigned.buckets, [name]: observed },
    key: keyAfter(assigned.key, answer, now),
  };
}

function assign(ledger: Ledger, route: string, { bucket, limits }: Observation): Ledger {
  if (ledger.shared === UNASSIGNED) return bucket === undefined ? ledger : nameShared(ledger, route, bucket);
  // Limits without a name are those of the bucket that the route was assumed to draw from.
  if (bucket === undefined && limits.second === undefined) return ledger;
  const name = bucket === undefined ? bucketOf(ledger, route) : known(ledger, bucket);
  return { ...ledger, lanes: { ...ledger.lanes, [route]: name } };
}

/** The service has a handful. A name of its own for each answer would be a series and a place in the state for each. */
const MAX_BUCKETS = 16;
/** Where all names beyond those are kept. */
const OTHER_BUCKETS = 'other';

function known({ buckets }: Ledger, name: string): string {
  return name in buckets || Object.keys(buckets).length < MAX_BUCKETS - 1 ? name : OTHER_BUCKETS;
}

/** The first name is the name of the bucket that all routes were assumed to share. */
function nameShared(ledger: Ledger, route: string, bucket: string): Ledger {
  const { [UNASSIGNED]: unnamed = EMPTY_BUCKET, ...named } = ledger.buckets;
  return {
    ...ledger,
    lanes: { ...ledger.lanes, [route]: bucket },
    shared: bucket,
    buckets: { ...named, [bucket]: unnamed },
  };
}

function keyAfter(before: Ledger['key'], answer: AnswerHead, now: UnixMs): Ledger['key'] {
  const { sentAt, status, revoked, observation } = answer;
  const { validKey } = observation;
  const key = validKey === undefined ? before : { ...before, validHeader: validKey };
  if (revoked) return { ...key, standing: 'revoked', since: now, mayProbe: false };
  if (status === 401) return { ...key, standing: 'refused', since: now, mayProbe: false };
  // It left before the key was refused, and says how things were then.
  if ((key.standing === 'refused' || key.standing === 'revoked') && sentAt < key.since) return before;
  // A failing server or a limiter says nothing against what is known, unless a header calls the key valid.
  const isSilent = validKey !== true && (status === 429 || status >= 500);
  if (isSilent && key.standing !== 'unknown') return key;
  return { ...key, standing: 'valid', since: now, mayProbe: false };
}
