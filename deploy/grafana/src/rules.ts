import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

const FOLDER = join(import.meta.dirname, '../../prometheus');
/** The alerts that a staker needs, and the others. */
export const RULE_FILES = ['rules.yaml', 'rules-extra.yaml'].map((name) => join(FOLDER, name));
const PREFIX = 'beaconchain:threshold:';

const Severity = z.enum(['critical', 'warning', 'info', 'none']);
const Rule = z.object({
  record: z.string().optional(),
  alert: z.string().optional(),
  expr: z.string(),
  for: z.string().optional(),
  labels: z.object({ severity: Severity, subject: z.string(), instance: z.string().optional() }).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
});
const Rules = z.object({ groups: z.array(z.object({ rules: z.array(Rule) })) });

/** All rules of both files. */
export const rules = RULE_FILES.flatMap(
  (file) => Rules.parse(parse(readFileSync(file, 'utf8'), { maxAliasCount: -1 })).groups,
).flatMap((group) => group.rules);

const numbers = new Map(
  rules.flatMap(({ record, expr }) => (record?.startsWith(PREFIX) ? [[record, productOf(record, expr)] as const] : [])),
);
const severities = new Map(rules.flatMap(({ alert, labels }) => (alert && labels ? [[alert, labels.severity]] : [])));

/** The number at which an alert fires, as shipped. @throws if there is no such name. */
export function shippedThreshold(name: string): number {
  const value = numbers.get(PREFIX + name);
  if (value === undefined) throw new TypeError(`${FOLDER}: no record ${PREFIX}${name}`);
  return value;
}

/**
 * PromQL for that number, a scalar: the recorded one, so that panels follow a number that the user changes in the rules,
 * or the shipped one where the rules are not loaded.
 */
export function threshold(name: string): string {
  return `scalar(max(${PREFIX}${name}) or vector(${shippedThreshold(name)}))`;
}

/** @throws if there is no such alert. */
export function severityOf(alert: string): z.infer<typeof Severity> {
  const severity = severities.get(alert);
  if (severity === undefined) throw new TypeError(`${FOLDER}: no alert ${alert} with a severity`);
  return severity;
}

/** What the rules record without a threshold of the user's own: a number, or numbers times numbers, as "4 * 86400". */
export function shippedIn(record: string, expr: string): string {
  const own = record.replace(PREFIX, 'beaconchain:own_threshold:');
  const [, product] = expr.split(`max(last_over_time(${own}[1h])) or vector(`);
  if (product === undefined) throw new TypeError(`${FOLDER}: ${record} does not ask for ${own} first: ${expr}`);
  return product.slice(0, -1);
}

function productOf(record: string, expr: string): number {
  const value = shippedIn(record, expr)
    .split('*')
    .reduce((product, factor) => product * Number(factor), 1);
  if (!Number.isFinite(value)) throw new TypeError(`${FOLDER}: ${record} is not a product of numbers: ${expr}`);
  return value;
}
