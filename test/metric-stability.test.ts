import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ALL_FAMILIES, type Contract } from './support/metric-contract.ts';

const RELEASED = JSON.parse(
  readFileSync(join(import.meta.dirname, 'golden/released-families.json'), 'utf8'),
) as Contract;
const CHANGELOG = readFileSync(join(import.meta.dirname, '../CHANGELOG.md'), 'utf8');

/** The families that are not as they were released, or were not there. */
function changedFamilies(released: Contract, now: Contract): string[] {
  const signatures = (contract: Contract): Map<string, string> =>
    new Map(contract.map(([name, type, labels]) => [name, `${type} ${labels.toSorted()}`]));
  const [before, after] = [signatures(released), signatures(now)];
  return [...new Set([...before.keys(), ...after.keys()])].filter((name) => before.get(name) !== after.get(name));
}

/** What is under the first heading, which is what was not released yet. */
function unreleasedOf(changelog: string): string {
  return changelog.split(/^## /m)[1] ?? '';
}

/** Changed families of which the changelog says nothing. */
function untold(released: Contract, now: Contract, changelog: string): string[] {
  const words = new Set(unreleasedOf(changelog).match(/\w+/g));
  return changedFamilies(released, now).filter((name) => !words.has(`beaconchain_${name}`));
}

describe('metric-stability', () => {
  it('a family that changed since the last release is named in the changelog', () => {
    expect(untold(RELEASED, ALL_FAMILIES, CHANGELOG)).toEqual([]);
  });

  it.each<[string, Contract]>([
    ['dropped', []],
    ['of another type', [['a_total', 'gauge', ['x', 'y']]]],
    ['without a label', [['a_total', 'counter', ['x']]]],
    ['renamed', [['b_total', 'counter', ['x', 'y']]]],
  ])('one that is %s is found', (_, now) => {
    const released: Contract = [['a_total', 'counter', ['y', 'x']]];
    const older =
      '# Changelog\n\n## Unreleased\n\n- Other.\n\n## 0.1.0\n\n- `beaconchain_a_total`, `beaconchain_b_total`\n';
    expect(untold(released, now, older)).toContain(now.some(([name]) => name === 'b_total') ? 'b_total' : 'a_total');
    const told = '## Unreleased\n\n- `beaconchain_a_total` is `beaconchain_b_total` now.\n';
    expect(untold(released, now, told)).toEqual([]);
  });

  it('the order of labels is no change', () => {
    expect(untold([['a', 'gauge', ['x', 'y']]], [['a', 'gauge', ['y', 'x']]], '')).toEqual([]);
  });
});
