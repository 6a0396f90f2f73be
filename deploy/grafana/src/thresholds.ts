import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

const RULES = join(import.meta.dirname, '../../prometheus/rules.yaml');
const PREFIX = 'beaconchain:threshold:';

const Rules = z.object({
  groups: z.array(z.object({ rules: z.array(z.object({ record: z.string().optional(), expr: z.string() })) })),
});

const numbers = new Map(
  Rules.parse(parse(readFileSync(RULES, 'utf8')))
    .groups.flatMap(({ rules }) => rules)
    .flatMap(({ record, expr }) => (record?.startsWith(PREFIX) ? [[record, productOf(record, expr)] as const] : [])),
);

/** The number at which an alert rule fires, so that a panel turns red where the alert does. @throws for no such name. */
export function threshold(name: string): number {
  const value = numbers.get(PREFIX + name);
  if (value === undefined) throw new TypeError(`${RULES}: no record ${PREFIX}${name}`);
  return value;
}

/** A number, or numbers times numbers: "4 * 86400". */
function productOf(record: string, expr: string): number {
  const value = expr.split('*').reduce((product, factor) => product * Number(factor), 1);
  if (!Number.isFinite(value)) throw new TypeError(`${RULES}: ${record} is no product of numbers: ${expr}`);
  return value;
}
