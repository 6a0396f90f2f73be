import { STATUSES } from '../../../src/api/answers/validators.ts';
import { SOURCE_NAMES } from '../../../src/sources/registry.ts';
import { ALL_FAMILIES } from './metric-contract.ts';
import { namesIn } from './promql.ts';

/** Labels and metrics that Prometheus itself adds to a scrape. */
const OF_THE_SCRAPE = ['job', 'instance'];
/** Labels of the series that Prometheus writes of its alerts, as far as panels select by them. */
const OF_ALERTS = ['alertname', 'alertstate', 'severity', 'subject', 'chain', 'group', 'machine'];
const labelsOf = new Map<string, readonly string[]>([
  ['up', []],
  // The last one: for `beaconchain:alerts:held`, which is recorded of them.
  ...['ALERTS', 'ALERTS_FOR_STATE', 'beaconchain_alerts'].map((name) => [name, OF_ALERTS] as const),
  ['process_cpu_seconds_total', []],
  ['process_resident_memory_bytes', []],
  ...ALL_FAMILIES.map(([name, , labels]) => [`beaconchain_${name}`, labels] as const),
  ...ALL_FAMILIES.filter(([, type]) => type === 'histogram').map(
    ([name, , labels]) => [`beaconchain_${name}_bucket`, [...labels, 'le']] as const,
  ),
]);
/** All values of the labels that have a fixed set of values. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  source: SOURCE_NAMES,
  process: ['system', 'validator', 'node'],
  layer: ['consensus', 'execution'],
  // Of slots and proposals; of seats; of duties; of validators.
  status: ['proposed', 'missed', 'orphaned', 'participated', 'assigned', 'done', ...STATUSES, 'unread'],
  period: ['current', 'next'],
  vote: ['head', 'source', 'target'],
  queue: ['deposit', 'topup', 'exit'],
  window: ['second', 'minute', 'hour', 'day', 'month', '7d', '31d'],
};
export const ALL_LABELS: ReadonlySet<string> = new Set([
  ...OF_THE_SCRAPE,
  ...[...labelsOf.values()].flat(),
  'group',
  // As Prometheus renames them where the scrape configuration has labels of the same names.
  ...['machine', 'process', 'source', 'chain', 'validator', 'group'].map((label) => `exported_${label}`),
  // Made by panels.
  'about',
]);

/**
 * The metrics and labels in an expression that the exporter does not expose.
 * @param recorded Names of the recording rules that the expression may use.
 */
export function unknownNames(expr: string, recorded: readonly string[] = []): string[] {
  const { metrics, selected, grouped } = namesIn(expr);
  return [
    ...metrics.filter((name) => !labelsOf.has(name) && !recorded.includes(name)),
    ...selected.flatMap(([metric, named]) => {
      const label = named.replace(/^exported_/, '');
      return OF_THE_SCRAPE.includes(label) ||
        labelsOf.get(sourceOf(metric))?.includes(label) ||
        (label === 'group' && hasGroups(metric))
        ? []
        : [`${metric}{${label}}`];
    }),
    ...selected.flatMap(([, label, value]) =>
      value.split('|').filter((one) => VALUES[label] && !VALUES[label].includes(one)),
    ),
    ...grouped.filter((label) => !ALL_LABELS.has(label)),
  ];
}

/** Series of machines and validators, sums over them and what is recorded of them have a group where one is configured. */
function hasGroups(metric: string): boolean {
  const labels = labelsOf.get(metric) ?? [];
  const isSum =
    /^beaconchain(?::|_watched_(?:validators(?!_(?:rewards_)?epoch)|block_rewards|attestations|correct_votes|(?:missed_)?rewards_ether|penalties_ether))/.test(
      metric,
    );
  return isSum || labels.includes('machine') || labels.includes('validator');
}

/** A series that is recorded of a single metric has its name in the middle, and its labels. */
function sourceOf(metric: string): string {
  return metric.replace(/^beaconchain:(\w+):\w+$/, 'beaconchain_$1');
}
