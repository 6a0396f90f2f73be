import { describe, expect, it } from 'vitest';
import type { Format } from '../../../src/metrics/encode.ts';
import { machinesSource } from '../../../src/sources/machines/index.ts';
import { encodeFamily } from '../../support/encode.ts';
import { fakeApi } from '../../support/fake-api.ts';
import { machinesOptions, machinesPage, nodeRecord, systemRecord } from '../../support/machine-records.ts';
import { noSignal, timing } from '../../support/timing.ts';

const SOURCE = machinesSource(machinesOptions(), () => undefined);

/** The machine labels of cpu_cores in an exposition, after poll, state file and encoding of machines of these names. */
async function labelsAfter(names: readonly string[], format: Format): Promise<string[]> {
  const system = names.map((machine) => systemRecord({ machine }));
  const node = names.map((machine) => nodeRecord({ machine }));
  const { value } = await SOURCE.poll(
    fakeApi(() => machinesPage({ system, node })),
    SOURCE.empty,
    timing(),
    noSignal(),
  );
  const state = SOURCE.state.parse(JSON.parse(JSON.stringify(value)));
  const family = SOURCE.families(state, timing()).find(({ name }) => name === 'beaconchain_machine_cpu_cores');
  if (!family) throw new Error('no cpu_cores');
  const lines = encodeFamily(family, format).split('\n').slice(2, -1);
  return lines.map((line) => unescaped(/machine="((?:[^"\\]|\\.)*)"\} 8$/.exec(line)?.[1] ?? 'unreadable'));
}

function unescaped(label: string): string {
  return label.replace(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char));
}

describe('sources/machines names', () => {
  it.each([
    'a"quoted" \\ back\\\\slashed',
    'two\nlines\r\n\ttabbed',
    '{machine="x"} 1 # EOF',
    'Gerät 😀 机器 \u202e',
    ' ',
    'x'.repeat(1_000),
  ])('come out as they came in: %j', async (name) => {
    expect(await labelsAfter([name], 'text')).toEqual([name]);
    expect(await labelsAfter([name], 'openmetrics')).toEqual([name]);
  });

  it('that no exposition can carry come out as near as possible, but for what has no UTF-8 form', async () => {
    expect(await labelsAfter(['nul\0'], 'text')).toEqual(['nul\ufffd']);
    expect(await labelsAfter(['lone\ud83d', 'lone\ud83e'], 'openmetrics')).toEqual([]);
    expect(await labelsAfter([''], 'text')).toEqual(['unnamed']);
  });
});
