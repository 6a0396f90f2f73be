import * as z from 'zod';
import { ENDPOINTS, type Endpoint, type Part } from '../api/endpoints.ts';
import type { RequestFailed } from '../api/errors.ts';
import type { Read } from '../sources/read.ts';
import { MS_PER_DAY, MS_PER_HOUR, MS_PER_MINUTE } from '../toolkit/lib/duration.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';

/** The refused attempts in a row at an optional part. */
const Refusal = z.object({
  reason: z.string(),
  attempts: z.number(),
  /** Unix ms of the first and the last of them. */
  firstAt: z.number(),
  lastAt: z.number(),
  /** Confirmed before a start, a reload or a takeover. The exporter requests the part again; it counts as refused until it works. */
  isOld: z.literal(true).exactOptional(),
});
type Refusal = z.infer<typeof Refusal>;

/** The refusals of a source, by part. A success ends them; the failures of an outage do not. */
export const Refusals = z.record(z.string(), Refusal);
export type Refusals = z.infer<typeof Refusals>;

/** A single 403 may come from a change of the plan, which takes up to a minute to apply. */
const CONFIRMED_AFTER_MS = 10 * MS_PER_MINUTE;

export function partOf(endpoint: Endpoint): Part | undefined {
  return ENDPOINTS[endpoint].part;
}

/** The parts that the service may refuse, of all reads of a source. */
export function partsOf(reads: readonly Pick<Read<never>, 'endpoints'>[]): Part[] {
  return [...new Set(reads.flatMap(({ endpoints }) => endpoints.flatMap((endpoint) => partOf(endpoint) ?? [])))];
}

/** Whether the service refuses a part. The refusal lasts until a success. */
export function isRefused(refusals: Refusals, part: Part | undefined): boolean {
  const refusal = part && refusals[part];
  return refusal !== undefined && (isConfirmed(refusal) || refusal.isOld === true);
}

/** The refusals when the account may have another plan: confirming one takes as many attempts as if it were new. */
export function doubted(refusals: Refusals): Refusals {
  const refused = Object.entries(refusals).filter(([part]) => isRefused(refusals, part as Part));
  return Object.fromEntries(
    refused.map(([part, one]) => [part, { ...one, attempts: 0, firstAt: one.lastAt, isOld: true }]),
  );
}

/** When a refused part may be requested again: a day after the last attempt. 0 if now. */
export function refusedUntil(refusals: Refusals, part: Part | undefined, now: UnixMs): UnixMs {
  const refusal = part && refusals[part];
  // After the clock was set back, a day after the last attempt could be a year away.
  return refusal && isConfirmed(refusal) && refusal.lastAt <= now ? refusal.lastAt + MS_PER_DAY : 0;
}

/** When a second attempt can confirm a refusal. Undefined if there is none, or the failure may pass by itself. */
export function confirmedAt(refusals: Refusals, part: Part | undefined): UnixMs | undefined {
  const refusal = part && refusals[part];
  return refusal && !isConfirmed(refusal) && !mayPass(refusal.reason) ? refusal.lastAt + CONFIRMED_AFTER_MS : undefined;
}

export function withoutRefusal(refusals: Refusals, part: Part): Refusals {
  if (!(part in refusals)) return refusals;
  const { [part]: _, ...others } = refusals;
  return others;
}

export function withRefusal(refusals: Refusals, part: Part, { reason }: RequestFailed, now: UnixMs): Refusals {
  const before = refusals[part];
  const isNext = before && before.attempts > 0 && mayPass(before.reason) === mayPass(reason);
  const { attempts, firstAt } = isNext ? before : { attempts: 0, firstAt: now };
  // A time in the future is from before the clock was set back.
  const refusal = { reason, attempts: attempts + 1, firstAt: Math.min(firstAt, now), lastAt: now };
  return { ...refusals, [part]: { ...refusal, ...(before?.isOld && { isOld: true }) } };
}

/** API v1 also returns 400 if its database fails for a while (api-facts 5.3). */
function mayPass(reason: string): boolean {
  return reason === 'bad_request';
}

function isConfirmed({ reason, attempts, firstAt, lastAt }: Refusal): boolean {
  const apartMs = lastAt - firstAt;
  return mayPass(reason) ? attempts >= 3 && apartMs >= MS_PER_HOUR : apartMs >= CONFIRMED_AFTER_MS;
}
