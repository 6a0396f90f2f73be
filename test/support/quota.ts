import type { Quota } from '../../src/budget/quota.ts';

/** Of a plan that limits only the second. */
export const NO_QUOTA: Quota = {
  opensAt: 0,
  limit: 'month',
  left: Number.POSITIVE_INFINITY,
  whole: Number.POSITIVE_INFINITY,
  renewsAt: Number.POSITIVE_INFINITY,
  probeAt: Number.POSITIVE_INFINITY,
  wholePerDay: Number.POSITIVE_INFINITY,
};
