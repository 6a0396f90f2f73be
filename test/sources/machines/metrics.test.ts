import { describe, expect, it } from 'vitest';
import { machineFamilies } from '../../../src/sources/machines/metrics.ts';
import type { MachinesOptions } from '../../../src/sources/machines/options.ts';
import { Machines } from '../../../src/sources/machines/state.ts';
import type { Family } from '../../../src/toolkit/exposition/family.ts';
import { HELD_FOR_MS } from '../../../src/toolkit/lib/held-time.ts';
import { machinesOptions, nodeRecord, systemRecord, validatorRecord } from '../../support/answers/machine-records.ts';
import { expectFirstChange } from '../../support/exposition/first-change.ts';
import { samplesOf, sampleValue } from '../../support/exposition/samples.ts';
import { DAY, MINUTE, NOW, timing } from '../../support/time/timing.ts';

const LAST_SEEN = 'beaconchain_machine_last_seen_timestamp_seconds';

type Fields = Record<string, unknown>;

function fleet(system?: Fields, validator?: Fields, node?: Fields): Machines {
  const machine = {
    name: 'node-a',
    system: system && systemRecord(system),
    validator: validator && validatorRecord(validator),
    node: node && nodeRecord(node),
  };
  return Machines.parse({ machines: [machine], dropped: 0 });
}

function shown(machines: Machines, options: Partial<MachinesOptions> = {}, now = NOW, intervalMs = MINUTE): Family[] {
  return machineFamilies(machinesOptions(options), machines, timing({ now, intervalMs }));
}

/** Names, without the prefix, of the families of `machines` that have samples. */
function present(families: readonly Family[]): string[] {
  return families
    .filter(({ name, samples }) => name.startsWith('beaconchain_machine_') && samples.length > 0)
    .map(({ name }) => name.slice('beaconchain_machine_'.length));
}

it('shows absent fields as 0 only if 0 is a meaningful value', () => {
  const record = { timestamp: 1790769623 };
  const bare = { name: 'a', system: record, validator: record, node: record };
  const families = shown(Machines.parse({ machines: [bare], dropped: 0 }));
  const fallbacks = ['consensus', 'execution'].map((of) => [`${of}_fallback_configured`, `${of}_fallback_connected`]);
  const [consensus = [], execution = []] = fallbacks;
  const zeros = [...consensus, 'validators', 'validators_active', 'peers', 'synced', ...execution];
  const identity = ['chain_known', 'name_shared', 'client_info'];
  expect(present(families)).toEqual(['last_seen_timestamp_seconds', 'info', ...zeros, ...identity]);
  for (const name of zeros) {
    for (const { value } of samplesOf(families, `beaconchain_machine_${name}`)) expect(value).toBe(0);
  }
});

it.each(['memory', 'disk'])('shows absent free %s as 0 if the total is present', (kind) => {
  const free = (fields: Fields): number | undefined =>
    sampleValue(shown(fleet(fields)), `beaconchain_machine_${kind}_free_bytes`);
  expect(free({ [`${kind}_node_bytes_free`]: undefined })).toBe(0);
  expect(free({ [`${kind}_node_bytes_free`]: null })).toBeUndefined();
  expect(free({ [`${kind}_node_bytes_free`]: undefined, [`${kind}_node_bytes_total`]: null })).toBeUndefined();
});

describe('staleness', () => {
  const seen = 1790769623000;

  it('withdraws values after stale_after, but not last_seen', () => {
    const machines = fleet({});
    expect(present(shown(machines, {}, seen + 10 * MINUTE))).toContain('cpu_cores');
    expect(present(shown(machines, {}, seen + 10 * MINUTE + 1))).toEqual(['last_seen_timestamp_seconds']);
  });

  it('keeps last_seen of each process until forget_after', () => {
    const processes = (now: number): unknown[] =>
      samplesOf(shown(fleet({}, {}), {}, now), LAST_SEEN).map(({ labels }) => labels['process']);
    expect(processes(seen + 31 * DAY)).toEqual(['system', 'validator']);
    expect(processes(seen + 31 * DAY + 1)).toEqual(['validator']);
    expect(processes(seen + 31 * DAY + 1001)).toEqual([]);
    const at = (now: number, held: number) => machineFamilies(machinesOptions(), fleet({}, {}), timing({ now, held }));
    expect(samplesOf(at(seen + 40 * DAY, seen), LAST_SEEN)).toHaveLength(2);
    expectFirstChange((now) => at(now, now - HELD_FOR_MS), seen + 31 * DAY + MINUTE);
  });
});

describe('expected machines', () => {
  const expected = ['node-a', 'never', 'never'];

  it('have last_seen 0 until they are seen, and count as machines', () => {
    const families = shown(fleet({}), { expected });
    expect(sampleValue(families, LAST_SEEN, { machine: 'node-a' })).toBe(1790769623);
    expect(samplesOf(families, LAST_SEEN).at(-1)).toEqual({
      labels: { chain: 'mainnet', machine: 'never', process: 'system' },
      value: 0,
    });
    expect(sampleValue(families, 'beaconchain_machines')).toBe(2);
  });

  it('have the label of their group on all their series', () => {
    const groups = [{ name: 'home', machines: ['node-*', 'never'] }];
    const of = (options: Partial<MachinesOptions>) =>
      shown(fleet({}, {}, {}), options)
        .flatMap(({ samples }) => [...samples])
        .filter(({ labels }) => 'machine' in labels);
    const [grouped, plain] = [of({ expected, groups }), of({ expected })];
    expect(grouped).toEqual(plain.map(({ labels, ...one }) => ({ labels: { ...labels, group: 'home' }, ...one })));
    expect(of({ expected: [], groups: [{ name: 'office', machines: ['office-*'] }] })).toEqual(of({ expected: [] }));
  });

  it('have no series if they are excluded', () => {
    const families = shown(fleet({}), { expected, exclude: ['node-a', 'never'] });
    expect(samplesOf(families, LAST_SEEN)).toEqual([]);
    expect(sampleValue(families, 'beaconchain_machines')).toBe(0);
  });
});
