import { type Bucket, isRateWindowRepeated } from './bucket.ts';

/**
 * Describes the plan by its limits (api-facts 6.2), because the service does not name it. Undefined: no answer has
 * stated a limit.
 */
export function planOf(bucket: Bucket | undefined): string | undefined {
  const second = bucket?.limits.second;
  if (!bucket || second === undefined) return undefined;
  const month = isRateWindowRepeated(bucket, 'month') ? undefined : bucket.limits.month;
  if (month !== undefined) return `${second} per second and ${month} per month, as on a trial or a legacy plan`;
  const names: Readonly<Record<number, string>> = { 1: 'Hobbyist', 2: 'Business', 5: 'Scale' };
  return `${second} per second without a quota, as on ${names[second] ?? 'an agreed plan'}`;
}
