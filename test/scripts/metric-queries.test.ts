import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { queryOf } from '../../scripts/metric-queries.ts';
import { temporaryFolder } from '../support/files.ts';
import { ALL_FAMILIES } from '../support/metric-contract.ts';
import { namesIn } from '../support/promql.ts';
import { areMissing, PROMTOOL, runTool } from '../support/tools.ts';

const queries = ALL_FAMILIES.map(([name, type]) => queryOf(`beaconchain_${name}`, type));

describe('scripts/metric-queries', () => {
  it('asks only for what is exposed', () => {
    const exposed = new Set(ALL_FAMILIES.map(([name]) => `beaconchain_${name}`));
    const asked = queries.flatMap((query) => namesIn(query).metrics.map((name) => name.replace(/_bucket$/, '')));
    expect(asked.filter((name) => !exposed.has(name))).toEqual([]);
  });

  it.skipIf(areMissing(PROMTOOL))('promtool can read every query', () => {
    const rules = { groups: [{ name: 'docs', rules: queries.map((expr, i) => ({ record: `query_${i}`, expr })) }] };
    const file = join(temporaryFolder(), 'rules.json');
    writeFileSync(file, JSON.stringify(rules));
    expect(runTool(PROMTOOL, ['check', 'rules', file], '')).toMatchObject({ status: 0, stderr: '' });
  });
});
