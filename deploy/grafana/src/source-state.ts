import { beyond, SOURCE_STALE } from './limits.ts';
import { BAD, colorOf } from './look.ts';
import { states } from './states.ts';

const BY_EXPORTER = 'max by (job, instance, source, chain)';
const UP = of('up');
const NEXT = `${of('next_attempt_timestamp_seconds')} > 0 < Inf`;
const WAIT = `${of('quota_wait_end_timestamp_seconds')} - time() > 0`;
/** A replica that does not lead leaves the polls to the leader. */
const FOLLOWS = 'on (job, instance) beaconchain_exporter_leader == 0';

function of(metric: string): string {
  return `${BY_EXPORTER} (beaconchain_source_${metric})`;
}

export const { expr: SOURCE_STATE, mappings: SOURCE_STATES } = states({
  troubles: [
    {
      text: 'stopped: access revoked',
      color: BAD,
      series: `${UP} and on (job, instance) beaconchain_api_access_revoked == 1`,
    },
    { text: 'stopped: key refused', color: BAD, series: `${UP} and on (job, instance) beaconchain_api_key_valid == 0` },
    {
      text: 'overdue',
      color: colorOf(SOURCE_STALE.alert),
      series: `${beyond(`time() - (${NEXT})`, SOURCE_STALE)} unless ${FOLLOWS}`,
    },
    { text: 'waits for the quota', color: colorOf('BeaconchainSourceWaitsForQuota'), series: WAIT },
    { text: 'failed', color: colorOf('BeaconchainSourceFailing'), series: `${UP} == 0` },
  ],
  all: UP,
  well: 'works',
  by: 'source, chain',
});

/** Seconds; nothing while polling is stopped. */
export const DUE_IN = `clamp_min(min by (source, chain) (${NEXT}) - time(), 0)`;
export const QUOTA_WAIT = `max by (source, chain) (${WAIT})`;
