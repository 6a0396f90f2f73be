// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Grafana's variables.
import { BAD, GOOD, named, POOR } from './look.ts';
import { graph, WHOLE } from './panels/graph.ts';
import { table } from './panels/table.ts';
import { timeline } from './panels/timeline.ts';
import { GROUP, withWhose } from './queries.ts';
import type { Section } from './shell.ts';

const UNPROVEN = 'Empty where validators.epochs is off. Unproven: no recorded response of the service shows it.';
/** Three such tables stand beside each other. */
const ETHER = { decimals: 5, width: 85 } as const;

/** How much a counter of epochs grew, over its other labels. Epochs come late, and in bursts. */
function grew(family: string, window = '$__rate_interval', by = '', more = ''): string {
  const increase = `increase(beaconchain_watched_${family}{${GROUP}${more}}[${window}])`;
  return `max by (chain, group${by}) (sum by (job, instance, chain, group${by}) (${increase}))`;
}

/** How many of its last ten attestations a validator missed. From three on the alert fires. */
const MISSED = named(
  Object.fromEntries(
    Array.from({ length: 11 }, (_, missed) => [
      missed,
      { text: `${missed} of 10`, color: missed === 0 ? GOOD : missed < 3 ? POOR : BAD },
    ]),
  ),
);

const VALIDATORS = {
  validator: { name: 'Validator' },
  chain: { name: 'Chain', width: 85 },
  group: { name: 'Group', width: 85 },
};
const SINCE = { today: 'now/d', 'this week': 'now/w', 'this month': 'now/M' } as const;

export const everyEpoch: Section = {
  title: 'Every epoch of watched validators',
  panels: [
    ...(['today', 'this week', 'this month'] as const).map((period) =>
      table({
        title: `ETH earned, lost and missed ${period}`,
        description: `Earned without what was lost by penalties. ${UNPROVEN}`,
        since: SINCE[period],
        span: 8,
        height: 6,
        labels: { chain: { name: 'Chain', width: 75 }, group: { name: 'Group', width: 70 } },
        values: [
          [grew('rewards_ether_total', '$__range'), { name: 'Earned', ...ETHER }],
          [grew('penalties_ether_total', '$__range'), { name: 'Lost', ...ETHER }],
          [grew('missed_rewards_ether_total', '$__range'), { name: 'Missed', ...ETHER }],
        ],
        sortBy: 'Earned',
      }),
    ),
    graph({
      title: 'Attestations missed',
      description: `New ones in each step, about 15 minutes after their epoch. ${UNPROVEN}`,
      ...WHOLE,
      bars: true,
      softMax: 2,
      interval: '1h',
      queries: [[withWhose(grew('attestations_total', '$__rate_interval', '', ', status="missed"')), '{{whose}}']],
      colors: { '.*': BAD },
    }),
    graph({
      title: 'Effective rate of votes',
      description: `Share of the assigned attestations of each step with a correct vote. ${UNPROVEN}`,
      unit: 'percentunit',
      decimals: 2,
      max: 1,
      interval: '1h',
      queries: [
        [
          withWhose(
            `${grew('correct_votes_total', '$__rate_interval', ', vote')} / on (chain, group) group_left () (${grew('attestations_total')} > 0)`,
          ),
          '{{whose}}, {{vote}}',
        ],
      ],
      colors: { '.*, head': POOR },
    }),
    table({
      title: 'Validators that missed attestations',
      description: `In the selected time range, the most first. If more validators are watched than validators.series, those that missed last. ${UNPROVEN}`,
      span: 24,
      height: 9,
      labels: VALIDATORS,
      values: [
        [
          `topk(50, ${grew('validator_missed_attestations_total', '$__range', ', validator')} >= 0.5)`,
          { name: 'Missed', decimals: 0 },
        ],
      ],
      sortBy: 'Missed',
      noValue: 'None: all is well',
    }),
    timeline({
      title: 'Missed attestations by epoch',
      description: `How many of its last ten attestations each validator missed, of the 100 with the most. A gap: none, or not known. ${UNPROVEN}`,
      queries: [
        [
          withWhose(
            `max by (chain, group, validator) (beaconchain_watched_validator_recent_missed_attestations{${GROUP}})`,
          ),
          '{{whose}}, {{validator}}',
        ],
      ],
      mappings: MISSED,
      interval: '384s',
      height: 8,
    }),
  ],
};
