import type { ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard';
import { GOOD, named, type Word } from './look.ts';

export interface Trouble extends Word {
  /** PromQL for the objects in trouble, for each exporter. */
  readonly series: string;
}

interface StatesOptions {
  /** The worst first, because several can apply at once. */
  readonly troubles: readonly Trouble[];
  /** PromQL for all objects, and the word for those without trouble. */
  readonly all: string;
  readonly well: string;
  /** The labels of an object. */
  readonly by: string;
}

/**
 * The worst trouble of each as a number, 0 for none, with a word for each number. With several exporters, the worse
 * state counts.
 */
export function states({ troubles, all, well, by }: StatesOptions): { expr: string; mappings: ValueMapping[] } {
  const codeOf = (index: number): number => troubles.length - index;
  const codes = troubles.map(({ series }, i) => `max by (job, instance, ${by}) (0 * (${series}) + ${codeOf(i)})`);
  return {
    expr: `max by (${by}) (${[...codes, `0 * ${all}`].join(' or ')})`,
    mappings: named({
      0: { text: well, color: GOOD },
      ...Object.fromEntries(troubles.map(({ text, color }, i) => [codeOf(i), { text, color }])),
    }),
  };
}
