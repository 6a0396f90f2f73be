import { rules } from '../../../deploy/grafana/src/rules.ts';

const PREFIX = 'beaconchain:threshold:';

/** Names of the recorded thresholds. */
export const RECORDED_THRESHOLDS = rules.flatMap(({ record }) => (record?.startsWith(PREFIX) ? [record] : []));

/** The thresholds that an expression depends on, through recorded series too, sorted. */
export function thresholdsIn(expr: string): string[] {
  const own = [...expr.matchAll(/beaconchain:threshold:(\w+)/g)].map(([, name = '']) => name);
  const recorded = rules
    .filter(({ record }) => record && !record.startsWith(PREFIX) && expr.includes(record))
    .flatMap((rule) => thresholdsIn(rule.expr));
  return [...new Set([...own, ...recorded])].sort();
}
