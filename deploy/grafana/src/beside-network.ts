import { OWN_RETURN, watched } from './income.ts';
import { graph } from './panels/graph.ts';
import { table } from './panels/table.ts';
import { CHAIN, daily, perChainAnd, withWhose } from './queries.ts';
import { terms } from './returns.ts';
import type { Section } from './shell.ts';

const UNPROVEN = 'Unproven: no recorded response of the service shows';
const OF_NETWORK = `Lines of the network are those of all validators. ${UNPROVEN} its duties.`;
const SHARE = { unit: 'percentunit', decimals: 2 } as const;

type Series = (family: string, more?: string) => string;
/** Without groups. */
const network: Series = (family, more = '') => `beaconchain_network_${family}{${CHAIN}${more}}`;

const ASSIGNED = ', duty="attestation", status="assigned"';
const DONE = ', duty="attestation", status="done"';

// With several exporters, the worse value counts.
const included = (of: Series): string =>
  `min by (chain, group) (${of('duties', DONE)} / ignoring (status) (${of('duties', ASSIGNED)} > 0))`;
const correct = (of: Series): string =>
  `min by (chain, group, vote) (${of('votes')} / on (job, instance, chain, group) group_left () (${of('duties', ASSIGNED)} > 0))`;
const delay = (of: Series): string => `max by (chain, group) (${of('inclusion_delay_slots')})`;

/** One's own lines and those of the network. */
function beside(own: string, ofNetwork: string, more = '') {
  return {
    held: true,
    queries: [
      [withWhose(own), `{{whose}}, yours${more}`],
      [ofNetwork, `{{chain}}, network${more}`],
    ],
    colors: { '.*, network': 'blue' },
  } as const;
}

export const besideNetwork: Section = {
  title: 'You and the network',
  panels: [
    graph({
      title: 'Attestations included',
      description: `Share of the assigned attestations, sums of the last 24 hours. The alert BeaconchainBelowNetwork compares yours with the network. ${OF_NETWORK}`,
      ...SHARE,
      max: 1,
      ...beside(included(watched), included(network)),
    }),
    graph({
      title: 'Inclusion delay',
      description: `Mean of the attestations of the last 24 hours, in slots beyond the next one: 0 is the best. ${OF_NETWORK}`,
      unit: 'suffix:slots',
      decimals: 3,
      min: 0,
      ...beside(delay(watched), delay(network)),
    }),
    graph({
      title: 'Correct votes',
      description: `Share of the assigned attestations with a correct vote, sums of the last 24 hours. ${OF_NETWORK}`,
      ...SHARE,
      max: 1,
      height: 11,
      isCrowded: true,
      ...beside(correct(watched), correct(network), ', {{vote}}'),
    }),
    table({
      title: 'Queues',
      description: `Deposits and exits of the whole network that wait, with the estimated time of the last one. In the older form of the answer, deposits include top-ups. ${UNPROVEN} queues.`,
      span: 12,
      height: 11,
      labels: { chain: { name: 'Chain', width: 85 }, queue: { name: 'Queue', width: 80 } },
      values: [
        [perChainAnd('queue', 'queue_validators'), { name: 'Waiting', decimals: 0, width: 80 }],
        [perChainAnd('queue', 'queue_balance_ether'), { name: 'Balance', unit: 'suffix:ETH', decimals: 0 }],
        [`1000 * ${perChainAnd('queue', 'queue_end_timestamp_seconds')}`, { name: 'Until', unit: 'dateTimeAsIso' }],
      ],
      sortBy: 'Queue',
      ascending: true,
    }),
    terms('The daily return is that of all validators of a network.', { span: 8, height: 9 }),
    graph({
      title: 'Return',
      description: `Not a financial benchmark. Network: the return of the newest day. Yours: earned in the last 24 hours / effective balance * 365. Validators that are not active count. If you have few validators, it depends on the luck of their proposals. ${UNPROVEN} rewards.`,
      ...SHARE,
      span: 16,
      ...beside(OWN_RETURN, daily('combined_apr_ratio')),
    }),
  ],
};
