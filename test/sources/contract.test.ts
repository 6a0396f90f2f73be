import { describe, expect, it } from 'vitest';
import { emptyEntry, entrySchema, sourceId } from '../../src/scheduler/entry.ts';
import { inputsFor } from '../../src/scheduler/schedules.ts';
import { ConfigFile, sourcesOf } from '../../src/sources/registry.ts';
import type { Source } from '../../src/sources/source.ts';
import type { Family } from '../../src/toolkit/exposition/family.ts';
import { BY_DEFAULT, OF_SOURCES } from '../support/contract/metric-contract.ts';
import { timing } from '../support/time/timing.ts';

const BASIC = sourcesOf(ConfigFile.parse({}));
const ALL = sourcesOf(ConfigFile.parse({ machines: { expected: ['never'] }, validators: { watch: [12_345] } }));
const EACH = ALL.map((source) => [sourceId(source), source] as const);

function familiesOf(sources: readonly Source[]): Family[] {
  const known = sources.map((source) => ({ source, saved: emptyEntry(source) }));
  return sources.flatMap((one) => one.metrics(one.empty, timing(), inputsFor(one, known)));
}

describe('sources contract', () => {
  it.each([
    ['each source', ALL, OF_SOURCES],
    ['each source that needs no watched validators', BASIC, BY_DEFAULT],
  ])('names every family of %s, also without data', (_, sources, contract) => {
    const named = familiesOf(sources).map(({ name, type }) => `${name} ${type}`);
    expect(named.sort()).toEqual(contract.map(([name, type]) => `beaconchain_${name} ${type}`).sort());
  });

  it.each(EACH)('%s reads its empty state back', (_, source) => {
    const empty = emptyEntry(source);
    expect(entrySchema(source).parse(JSON.parse(JSON.stringify(empty)))).toEqual(empty);
  });

  it.each(EACH)('%s names each read once, and has a share of any budget', (_, { reads, share }) => {
    expect(new Set(reads.map(({ name }) => name)).size).toBe(reads.length);
    for (const allowed of [0, 30, 225, 600, Number.POSITIVE_INFINITY]) expect(share(allowed)).toBeGreaterThan(0);
  });

  it('only counters end in _total, and every family has a description', () => {
    for (const { name, type, help } of familiesOf(ALL)) {
      expect(name.endsWith('_total'), name).toBe(type === 'counter');
      expect(help, name).toMatch(/^[A-Z].{20,}\.$/);
    }
  });
});
