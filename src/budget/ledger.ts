import { z } from 'zod';
import { type Observation, type Window, WINDOWS } from './headers.ts';

const UnixMs = z.number();
const PerWindow = z.partialRecord(z.enum(WINDOWS), z.number());

const Bucket = z.object({
  /** As the last answers gave them. */
  limits: PerWindow,
  remaining: PerWindow,
  resetAt: UnixMs.optional(),
  /** After a 429: nothing leaves before. */
  closedUntil: UnixMs,
  /** Consecutive 429s that did not say how long to wait. */
  blindWaits: z.number(),
});
type Bucket = z.infer<typeof Bucket>;

const Key = z.object({
  standing: z.enum(['unknown', 'valid', 'refused', 'revoked']),
  /** When the service last said so, or was last asked whether it still holds. */
  since: UnixMs,
  /** Revoked only: one request may leave to see whether it still holds. */
  mayProbe: z.boolean(),
  /** `ratelimit-validapikey` of the last answer that had it. */
  validHeader: z.boolean().optional(),
});

/**
 * What is known of the account's limits and of the key. Plain data: it is persisted as it is.
 * A lane is an endpoint on a host; lanes of one bucket share its limits.
 */
export const Ledger = z.object({
  buckets: z.record(z.string(), Bucket),
  lanes: z.record(z.string(), z.string()),
  /** The bucket of lanes that no answer has assigned yet; '' until an answer names one. */
  shared: z.string(),
  key: Key,
});
export type Ledger = z.infer<typeof Ledger>;

/** Before the first answer the slowest plan is assumed. */
export const ASSUMED_PER_SECOND = 1;
const REFUSED_KEY_WAIT_MS = 600_000;
const FIRST_BLIND_WAIT_MS = 60_000;
const LONGEST_BLIND_WAIT_MS = 3_600_000;

const EMPTY_BUCKET: Bucket = { limits: {}, remaining: {}, closedUntil: 0, blindWaits: 0 };

export function emptyLedger(): Ledger {
  return { buckets: { '': EMPTY_BUCKET }, lanes: {}, shared: '', key: { standing: 'unknown', since: 0, mayProbe: false } };
}

/** The name of the bucket that a lane draws from, as far as known. */
export function bucketOf(ledger: Ledger, lane: string): string {
  return ledger.lanes[lane] ?? ledger.shared;
}

/** Requests per second that the service grants a bucket; a limit of 0 outside of a revocation means nothing. */
export function perSecondOf(ledger: Ledger, bucket: string): number {
  return ledger.buckets[bucket]?.limits.second || ASSUMED_PER_SECOND;
}

/**
 * Whether a window is no limit of its own: longer windows that a plan does not have repeat the figure of the second
 * (api facts 6.1).
 */
export function isFiller({ limits }: Pick<Bucket, 'limits'>, window: Window): boolean {
  return window !== 'second' && limits[window] !== undefined && limits[window] === limits.second;
}

/** Unix ms from which a request on this lane may leave, the second window apart; Infinity: not on its own. */
export function opensAt(ledger: Ledger, lane: string): number {
  const bucketOpens = ledger.buckets[bucketOf(ledger, lane)]?.closedUntil ?? 0;
  return Math.max(bucketOpens, keyOpensAt(ledger));
}

function keyOpensAt({ key }: Ledger): number {
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
export function sent(ledger: Ledger, now: number): Ledger {
  const { key } = ledger;
  if (key.standing !== 'refused' && key.standing !== 'revoked') return ledger;
  return { ...ledger, key: { ...key, since: now, mayProbe: false } };
}

/** What an answer teaches: the lane's bucket, its limits, a wait, the standing of the key. */
export function answered(
  ledger: Ledger,
  lane: string,
  answer: { status: number; revoked: boolean; observation: Observation },
  now: number,
): Ledger {
  const { status, revoked, observation } = answer;
  const assigned = observation.bucket === undefined ? ledger : assign(ledger, lane, observation.bucket);
  const name = bucketOf(assigned, lane);
  const bucket = assigned.buckets[name] ?? EMPTY_BUCKET;
  return {
    ...assigned,
    buckets: { ...assigned.buckets, [name]: revoked ? bucket : observe(bucket, status, observation, now) },
    key: keyAfter(assigned.key, status, revoked, observation, now),
  };
}

function assign(ledger: Ledger, lane: string, bucket: string): Ledger {
  const lanes = { ...ledger.lanes, [lane]: bucket };
  if (ledger.shared !== '') return { ...ledger, lanes };
  // The first name is the name of the bucket that all lanes were assumed to share.
  const { '': unnamed = EMPTY_BUCKET, ...named } = ledger.buckets;
  return { ...ledger, lanes, shared: bucket, buckets: { ...named, [bucket]: unnamed } };
}

function observe(bucket: Bucket, status: number, observation: Observation, now: number): Bucket {
  const seen = {
    ...bucket,
    limits: { ...bucket.limits, ...observation.limits },
    remaining: { ...bucket.remaining, ...observation.remaining },
    ...(observation.resetSeconds === undefined ? {} : { resetAt: now + observation.resetSeconds * 1000 }),
  };
  if (status !== 429) return { ...seen, blindWaits: 0 };
  if (observation.resetSeconds !== undefined) {
    // A reset of 0 cannot be told from a rounded-down second.
    const wait = Math.max(1, observation.resetSeconds) * 1000;
    return { ...seen, closedUntil: Math.max(bucket.closedUntil, now + wait), blindWaits: 0 };
  }
  const wait = Math.min(FIRST_BLIND_WAIT_MS * 2 ** bucket.blindWaits, LONGEST_BLIND_WAIT_MS);
  return { ...seen, closedUntil: Math.max(bucket.closedUntil, now + wait), blindWaits: bucket.blindWaits + 1 };
}

function keyAfter(
  key: Ledger['key'],
  status: number,
  revoked: boolean,
  observation: Observation,
  now: number,
): Ledger['key'] {
  const validHeader = observation.validKey ?? key.validHeader;
  const standing = standingAfter(status, revoked, observation) ?? (key.standing === 'unknown' ? 'valid' : undefined);
  const header = validHeader === undefined ? {} : { validHeader };
  return standing === undefined ? { ...key, ...header } : { standing, since: now, mayProbe: false, ...header };
}

/** Undefined: the answer says nothing of the key. */
function standingAfter(status: number, revoked: boolean, { validKey }: Observation): Ledger['key']['standing'] | undefined {
  if (revoked) return 'revoked';
  if (status === 401) return 'refused';
  // A failing server or a limiter asked before the key was looked at, unless a header tells.
  return validKey === undefined && (status === 429 || status >= 500) ? undefined : 'valid';
}
