/** Who leaves first when requests wait: what a user must not miss, then what others cannot tell, then the slow rest. */
export const PRIORITIES = [
  'slashing_details',
  'finalized_pass',
  'machines',
  'head_pass',
  'daily_returns',
  'sync_committee',
  // Reading old epochs after a stop can take an hour at one request a second: it fills the gaps the others leave.
  'catch_up',
] as const;

export type Priority = (typeof PRIORITIES)[number];
