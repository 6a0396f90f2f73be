import { describe, expect, it } from 'vitest';
import { type Family, mergeFamilies } from '../../src/metrics/family.ts';

function family(name: string, ...values: number[]): Family {
  return { name, type: 'gauge', help: `Help of ${name}.`, samples: values.map((value) => ({ labels: {}, value })) };
}

describe('metrics/family', () => {
  it('joins the samples of families of one name, in order of first sight', () => {
    const merged = mergeFamilies([family('b', 1, 2), family('a', 3), family('b'), family('b', 4), family('a', 5)]);
    expect(merged).toEqual([family('b', 1, 2, 4), family('a', 3, 5)]);
  });
});
