import { beyond, SOURCE_STALE } from './limits.ts';
import { BAD, colorOf, GOOD, named } from './look.ts';

const BY_EXPORTER = 'max by (job, instance, source, chain)';
const UP = of('up');
const NEXT = `${of('next_attempt_timestamp_seconds')} > 0 < Inf`;
const WAIT = `${of('quota_wait_end_timestamp_seconds')} - time() > 0`;
/** A replica that does not lead leaves the polls to the leader. */
const IS_LEADING = 'on (job, instance) beaconchain_exporter_leader == 0';

function of(metric: string): string {
  return `${BY_EXPORTER} (beaconchain_source_${metric})`;
}

/** What is the matter with each source, the worst first. Of several exporters that have the source, the worst counts. */
const STATES = [
  {
    text: 'stopped: access revoked',
    color: BAD,
    sources: `${UP} and on (job, instance) beaconchain_api_access_revoked == 1`,
  },
  { text: 'stopped: key refused', color: BAD, sources: `${UP} and on (job, instance) beaconchain_api_key_valid == 0` },
  {
    text: 'overdue',
    color: colorOf(SOURCE_STALE.alert),
    sources: `${beyond(`time() - (${NEXT})`, SOURCE_STALE)} unless ${IS_LEADING}`,
  },
  { text: 'waits for the quota', color: colorOf('SourceWaitsForQuota'), sources: WAIT },
  { text: 'failed', color: colorOf('SourceFailing'), sources: `${UP} == 0` },
] as const;

function codeOf(index: number): number {
  return STATES.length - index;
}

export const SOURCE_STATE = `max by (source, chain) (${[
  ...STATES.map(({ sources }, i) => `0 * (${sources}) + ${codeOf(i)}`),
  `0 * ${UP}`,
].join(' or ')})`;

export const SOURCE_STATES = named({
  0: { text: 'works', color: GOOD },
  ...Object.fromEntries(STATES.map(({ text, color }, i) => [codeOf(i), { text, color }])),
});

/** Seconds; nothing while polling is stopped. */
export const DUE_IN = `clamp_min(min by (source, chain) (${NEXT}) - time(), 0)`;
export const QUOTA_WAIT = `max by (source, chain) (${WAIT})`;
