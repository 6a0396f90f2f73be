import { BAD } from './look.ts';
import { graph } from './panels/graph.ts';
import { stat } from './panels/stat.ts';
import { GROUP, ofGroup, withWhose } from './queries.ts';
import type { Section } from './shell.ts';

/** The sum over the duties, of each exporter. No sum if one of them is not known. */
function sumOfDuties(family: string): string {
  const duties = ['attestation', 'sync_committee', 'proposal'].map((duty) => watched(family, `, duty="${duty}"`));
  return duties.join(' + ignoring (duty) ');
}

/** The series of a family that is split by group. */
export function watched(family: string, more = ''): string {
  return `beaconchain_watched_validators_${family}{${GROUP}${more}}`;
}

const EARNED_BY_EXPORTER = `(${sumOfDuties('rewards_ether')} + ignoring (duty) ${watched('execution_rewards_ether')})`;
const EARNED = `max by (chain, group) ${EARNED_BY_EXPORTER}`;
const MISSED = `max by (chain, group) (${sumOfDuties('missed_rewards_ether')})`;
/** Simple, as the daily return of the network. */
export const OWN_RETURN = `365 * max by (chain, group) (${EARNED_BY_EXPORTER} / (${watched('effective_balance_ether')} > 0))`;

const UNPROVEN = 'Unproven: no recorded response of the service shows rewards.';
const ETHER = { unit: 'suffix:ETH', decimals: 5 } as const;
const BY_DUTY = { ...ETHER, height: 11, held: true } as const;

export const income: Section = {
  title: 'Rewards of watched validators',
  panels: [
    stat({
      title: 'Earned and missed in 24 hours',
      description: `Of both layers, sums of the last 24 hours. Penalties are subtracted from what was earned. The service estimates what missed proposals would have earned. ${UNPROVEN}`,
      ...ETHER,
      span: 24,
      queries: [
        [withWhose(EARNED), '{{whose}}, earned'],
        [withWhose(MISSED), '{{whose}}, missed'],
      ],
    }),
    graph({
      title: 'Earned, by duty',
      description: `Sums of the last 24 hours, which fall when a reward is a day old. Of the consensus layer by duty, minus penalties, and of the execution layer. ${UNPROVEN}`,
      ...BY_DUTY,
      queries: [
        [withWhose(ofGroup('watched_validators_rewards_ether', 'duty')), '{{whose}}, {{duty}}'],
        [withWhose(ofGroup('watched_validators_execution_rewards_ether')), '{{whose}}, execution layer'],
      ],
    }),
    graph({
      title: 'Missed, by duty',
      description: `Sums of the last 24 hours, which fall when a miss is a day old. The penalties are already subtracted from what was earned. ${UNPROVEN}`,
      ...BY_DUTY,
      queries: [
        [withWhose(ofGroup('watched_validators_missed_rewards_ether', 'duty')), '{{whose}}, {{duty}}'],
        [withWhose(ofGroup('watched_validators_penalties_ether')), '{{whose}}, penalties'],
      ],
      colors: { '.*, penalties': BAD },
    }),
  ],
};
