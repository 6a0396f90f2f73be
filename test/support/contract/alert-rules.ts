import { rules } from '../../../deploy/grafana/src/rules.ts';

const PREFIX = 'beaconchain:threshold:';

/** Names of the recorded thresholds. */
export const RECORDED_THRESHOLDS = rules.flatMap(({ record }) => (record?.startsWith(PREFIX) ? [record] : []));

/** The thresholds that an expression depends on, through recorded series too, sorted. */
export function thresholdsIn(expr: string, through: readonly string[] = []): string[] {
  const own = [...expr.matchAll(/beaconchain:threshold:(\w+)/g)].map(([, name = '']) => name);
  // A series may read its own last sample.
  const recorded = rules
    .filter(({ record }) => record && !record.startsWith(PREFIX) && expr.includes(record) && !through.includes(record))
    .flatMap(({ record = '', expr: source }) => thresholdsIn(source, [...through, record]));
  return [...new Set([...own, ...recorded])].sort();
}
