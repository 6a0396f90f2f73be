import { describe, expect, it } from 'vitest';
import { type MachineRecord, NodeRecord, type Process, type SystemRecord } from '../../../src/api/answers/machines.ts';
import type { Chain } from '../../../src/facts/chain.ts';
import { COUNTERS, hasFallen, isNameShared } from '../../../src/sources/machines/counters.ts';
import { afterRecords, trusted } from '../../../src/sources/machines/learned.ts';
import { isChainKnown } from '../../../src/sources/machines/options.ts';
import type { Learned, Machine } from '../../../src/sources/machines/state.ts';
import { machinesOptions } from '../../support/answers/machine-records.ts';
import { slotAt } from '../../support/answers/slot-rows.ts';

/** Unix seconds: 2026-11-24. */
const START = 1_795_500_000;
const DAY_SLOTS = 7_200;

function node(at: number, fields: object = {}): MachineRecord {
  return ['node', NodeRecord.parse({ timestamp: at, sync_eth2_synced: true, ...fields })];
}

/** A synced node whose head is that of hoodi at the start, or `slots` after it. */
function standing(minute: number, slots = 0): MachineRecord {
  return node(START + minute * 60, { sync_beacon_head_slot: slotAt('hoodi', START * 1000) + slots });
}

/** A node that follows `chain`, one record a minute. */
function inStep(chain: Chain, minutes: number, from = START, behind = 0): MachineRecord[] {
  return Array.from({ length: minutes + 1 }, (_, i) => {
    const at = from + i * 60;
    return node(at, { sync_beacon_head_slot: slotAt(chain, at * 1000) - behind });
  });
}

function with_(fields: object, records: readonly MachineRecord[]): MachineRecord[] {
  return records.map(([, record]) => node(record.timestamp, { ...record, ...fields }));
}

/** The facts about a machine after newer records. */
function learnAll(before: Partial<Machine> | undefined, records: readonly MachineRecord[]): Learned {
  return afterRecords({ name: 'a', ...before }, records).learned ?? {};
}

const AUTO = machinesOptions({ chain: 'auto' });
const hoodi = { name: 'a', learned: { chain: 'hoodi' } } as const;

describe('the chain of a machine', () => {
  it('follows from two synced records of its node two minutes apart, in any order', () => {
    expect(learnAll(undefined, inStep('hoodi', 2)).chain).toBe('hoodi');
    expect(learnAll(undefined, inStep('mainnet', 2).reverse()).chain).toBe('mainnet');
  });

  it('is unknown after less than two minutes, or without a head', () => {
    expect(learnAll(undefined, inStep('hoodi', 1)).chain).toBeUndefined();
    const headless = with_({ sync_beacon_head_slot: null }, inStep('hoodi', 5));
    expect(learnAll(undefined, headless).chain).toBeUndefined();
  });

  it.each([undefined, false])('follows from two heads within 16 slots of its clock if the flag is %s', (flag) => {
    const behind = (slots: number): MachineRecord[] =>
      with_({ sync_eth2_synced: flag }, inStep('hoodi', 2, START, slots));
    expect([16, 17].map((slots) => learnAll(undefined, behind(slots)).chain)).toEqual(['hoodi', undefined]);
    const [far, , near] = [...inStep('hoodi', 1, START, 17), ...behind(15).slice(2)];
    expect(learnAll(undefined, [far, near] as MachineRecord[]).chain).toBeUndefined();
  });

  it('is that of the first of two nodes under one name, in any order of their records', () => {
    const heads = (turns: string): MachineRecord[] =>
      [...turns].flatMap((turn, i) => inStep(turn === 'm' ? 'mainnet' : 'hoodi', 0, START + i * 60));
    expect(learnAll(undefined, heads('mhmmhhhmhhhhmhhhh')).chain).toBe('mainnet');
    expect(learnAll(undefined, heads(`mmm${'h'.repeat(22)}`)).chain).toBe('hoodi');
  });

  it('is never one that a syncing node passes, even if that node claims to be synced', () => {
    // Mainnet from genesis, a hundred times as fast as the chain, past the head of hoodi.
    const passes = Array.from({ length: 10 }, (_, i) => standing(i, i * 500 - 2_000));
    expect(learnAll(undefined, passes).chain).toBeUndefined();
    const arrived = learnAll(undefined, [...passes, ...inStep('mainnet', 5, START + 600)]);
    expect(arrived.chain).toBe('mainnet');
  });

  it('is unknown while the head stands still or is more than a day off', () => {
    expect(learnAll(undefined, [standing(0), standing(2), standing(4)]).chain).toBeUndefined();
    expect(learnAll(undefined, inStep('hoodi', 4, START, DAY_SLOTS + 10)).chain).toBeUndefined();
    expect(learnAll(undefined, inStep('hoodi', 4, START, DAY_SLOTS - 10)).chain).toBe('hoodi');
  });

  it('stays when the node falls behind, and changes when the machine moves', () => {
    const learned = learnAll(undefined, inStep('hoodi', 2));
    const stuck = learnAll({ learned }, [standing(150)]);
    expect(stuck.chain).toBe('hoodi');
    expect(learnAll({ learned: stuck }, inStep('mainnet', 10, START + 9_600)).chain).toBe('mainnet');
  });

  it('is assumed until it is found or configured, and while the node contradicts the configuration', () => {
    expect(isChainKnown(AUTO, { name: 'a' })).toBe(false);
    expect(isChainKnown(AUTO, hoodi)).toBe(true);
    expect(isChainKnown({ ...AUTO, chain: 'mainnet' }, { name: 'a' })).toBe(false);
    expect(isChainKnown({ ...AUTO, chain: 'hoodi' }, hoodi)).toBe(true);
    const rules = { ...AUTO, chainRules: [{ match: 'a', chain: 'mainnet' as const }] };
    expect(isChainKnown(rules, { name: 'a' })).toBe(true);
    expect(isChainKnown(rules, hoodi)).toBe(false);
    expect(isChainKnown({ ...AUTO, chain: 'mainnet' }, hoodi)).toBe(false);
  });

  it('is assumed while the newest record is of another chain', () => {
    const holding = (chain: Chain, behind = 0): Parameters<typeof isChainKnown>[1] => {
      const head = { timestamp: START, sync_beacon_head_slot: slotAt(chain, START * 1000) - behind };
      return { name: 'a', learned: { chain: 'mainnet' }, node: NodeRecord.parse(head) };
    };
    expect(isChainKnown(AUTO, holding('mainnet'))).toBe(true);
    expect(isChainKnown(AUTO, holding('mainnet', 3 * DAY_SLOTS))).toBe(true);
    expect(isChainKnown(AUTO, holding('hoodi'))).toBe(false);
    const rules = machinesOptions({ chainRules: [{ match: 'a', chain: 'hoodi' }] });
    expect(isChainKnown(rules, holding('hoodi'))).toBe(false);
  });
});

describe('the flag of the execution client', () => {
  const teku = { client_name: 'teku', client_version: '26.7.1' };
  const shown = (record: MachineRecord, learned: Learned): boolean | null | undefined =>
    trusted({ name: 'a', node: record[1] as NodeRecord, learned }, START * 1000).node?.sync_eth1_connected;

  it('has no value before this client has said yes', () => {
    for (const said of [{ sync_eth1_connected: false }, {}]) {
      const record = node(START, { ...teku, ...said });
      expect(shown(record, learnAll(undefined, [record]))).toBeNull();
    }
  });

  it('is believed once this client version has said yes, until an update', () => {
    const yes = node(START, { ...teku, client_version: '25.1.0', sync_eth1_connected: true });
    const learned = learnAll(undefined, [yes]);
    expect(shown(yes, learned)).toBe(true);
    const no = node(START + 60, { ...teku, client_version: '25.1.0', sync_eth1_connected: false });
    expect(shown(no, learnAll({ learned }, [no]))).toBe(false);
    const updated = node(START + 120, { ...teku, sync_eth1_connected: false });
    expect(shown(updated, learnAll({ learned }, [updated]))).toBeNull();
  });
});

describe('a set of counters', () => {
  const BOOT = START - 90_000;
  const of = (process: Process, minute: number, fields: object): MachineRecord =>
    [process, { timestamp: START + minute * 60, misc_node_boot_ts_seconds: BOOT, ...fields }] as MachineRecord;
  /** Records of values, one a minute from this one on. */
  const system = (field: string, values: readonly number[], from = 0): MachineRecord[] =>
    values.map((value, i) => of('system', from + i, { [field]: value }));
  const withheld = (records: readonly MachineRecord[], minute: number): string[] => {
    const machine = { learned: learnAll(undefined, records) };
    return Object.keys(COUNTERS).filter((set) => hasFallen(set, machine, (START + minute * 60) * 1000));
  };

  it.each([
    ['cpu', 'cpu_node_system_seconds_total', 17_395_280, 17_165_328],
    ['disk', 'disk_node_reads_total', 800_000, 0],
    ['network', 'network_node_bytes_total_receive', 9e9, 4e6],
  ])(
    '%s of a host that falls without a reboot is withheld for ten minutes, and an hour the next time',
    (set, field, more, less) => {
      const once = system(field, [more, less]);
      expect([10.9, 11].map((minute) => withheld(once, minute))).toEqual([[set], []]);
      const again = [...system(field, [more, less, more]), ...system(field, [less], 31)];
      expect([90, 91].map((minute) => withheld(again, minute))).toEqual([[set], []]);
      expect(withheld([...system(field, [more, less, more]), ...system(field, [less], 63)], 73)).toEqual([]);
      const reboot = of('system', 1, { [field]: less, misc_node_boot_ts_seconds: START + 30 });
      expect(withheld([...system(field, [more]), reboot], 1)).toEqual([]);
      expect(withheld(system(field, [more, more - 10]), 1)).toEqual([]);
    },
  );

  it('cpu of a host that rises too fast is withheld, however few threads a container reports', () => {
    const rise = (by: number) => [
      ...system('cpu_threads', [1]),
      ...system('cpu_node_idle_seconds_total', [100, 100 + by], 1),
    ];
    expect([60 * 512, 229_952].map((by) => withheld(rise(by), 2))).toEqual([[], ['cpu']]);
  });

  it.each(['validator', 'node'] as const)('of a %s process that rises too fast is withheld', (process) => {
    const sets = (minute: number, ...values: number[]): string[] => {
      const cpu = values.map((value, i) => of(process, i, { cpu_process_seconds_total: value }));
      return withheld([of('system', 0, { cpu_threads: 8 }), ...cpu], minute);
    };
    expect(sets(1, 400_006, 5_007)).toEqual([]);
    expect([11.9, 12].map((minute) => sets(minute, 400_006, 5_007, 400_020))).toEqual([[process], []]);
    expect(sets(60, 400_006, 5_007, 400_020, 5_060, 400_080)).toEqual([process]);
    expect([61, 63].map((seconds) => sets(1, 0, 8 * seconds))).toEqual([[], [process]]);
  });

  it('loses all its fields and no others, beside the gauges of the more complete record', () => {
    const shown = { disk_node_bytes_total: 2e12, memory_node_bytes_free: 1e9 };
    const less = { disk_node_bytes_total: 1e11, memory_node_bytes_free: 2e9, disk_node_reads_total: 0, cpu_cores: 8 };
    const network = { network_libp2p_bytes_total_receive: 5 };
    const records = [
      of('system', 0, { ...shown, disk_node_reads_total: 800, cpu_cores: 8 }),
      of('system', 1, less),
      ...[0, 1].map((i) => of('node', i, { cpu_process_seconds_total: i * 1e6, ...network })),
    ];
    const machine = afterRecords({ name: 'a' }, records);
    const { system: host, node: process } = trusted(machine, (START + 61) * 1000);
    expect(host).toEqual({ ...machine.system, ...shown, disk_node_reads_total: null });
    const none = { cpu_process_seconds_total: null, network_libp2p_bytes_total_receive: null };
    expect(process).toMatchObject({ misc_node_boot_ts_seconds: BOOT, ...none });
  });
});

describe('the boot time', () => {
  const [A, B] = [START - 90_000, START - 5_000];
  const HOST_A = { network_node_bytes_total_receive: 9e12, disk_node_bytes_free: 5, disk_node_bytes_total: 100 };
  const HOST_B = { network_node_bytes_total_receive: 1e12, disk_node_bytes_free: 60, disk_node_bytes_total: 90 };
  /** Records of hosts that booted at these times, one a minute. */
  const booted = (boots: readonly number[], from = 0): MachineRecord[] =>
    boots.map((boot, i) => {
      const fields = { timestamp: START + (from + i) * 60, misc_node_boot_ts_seconds: boot, cpu_cores: 8 };
      return ['system', { ...fields, ...(boot === A ? HOST_A : HOST_B) }];
    });
  /** Whether the name is shared, the network counter and the free disk at a minute. */
  const shown = (records: readonly MachineRecord[], minute: number): unknown[] => {
    const learned = learnAll(undefined, records);
    const machine = { name: 'a', system: records.at(-1)?.[1] as SystemRecord, learned };
    const at = (START + minute * 60) * 1000;
    const { system } = trusted(machine, at);
    return [isNameShared(machine, at), system?.network_node_bytes_total_receive, system?.disk_node_bytes_free];
  };

  it('that steps back, or forward without a reboot, withholds the counters for ten minutes', () => {
    expect(shown(booted([B, A]), 10.9)).toEqual([false, null, 5]);
    expect(shown(booted([B, A]), 11)).toEqual([false, 9e12, 5]);
    expect(shown(booted([B, A, B + 300, A]), 12.9)).toEqual([false, null, 5]);
    expect(shown(booted([A, B]), 10.9)).toEqual([false, null, 60]);
    expect(shown(booted([B, B - 60]), 1)).toEqual([false, 1e12, 60]);
    expect(shown(booted([A, START + 30]), 1)).toEqual([false, 1e12, 60]);
  });

  it('that returns to the same value twice in a day means two hosts, for a day', () => {
    expect(shown(booted([A, B, A, B, A]), 4)[0]).toBe(false);
    const records = booted([A, B, A, B + 1, A, B]);
    expect(shown(records, 5)).toEqual([true, null, 5]);
    const { learned } = afterRecords({ name: 'a' }, records);
    const process = node(START, { cpu_process_seconds_total: 7 })[1] as NodeRecord;
    const at = (minutes: number) => trusted({ name: 'a', node: process, learned }, (START + minutes * 60) * 1000);
    expect([5, 1_445].map((minutes) => at(minutes).node?.cpu_process_seconds_total)).toEqual([null, 7]);
    expect(shown(records, 5 + 1_440 - 0.1)).toEqual([true, null, 5]);
    expect(shown(records, 5 + 1_440)).toEqual([false, 1e12, 60]);
    expect(shown([...records, ...booted([B], 70)], 70)).toEqual([true, null, 60]);
    const rarely = [...booted([A, B, A, B]), ...booted([A], 1_440), ...booted([B], 1_444)];
    expect(shown(rarely, 1_444)[0]).toBe(false);
  });

  it('that steps back and then to a new value, as without a clock chip, means one host', () => {
    const steps = [0, 1, 2, 3].flatMap((i) => booted([B + i * 600, A, A, B + i * 600 + 300], i * 10));
    expect(shown(steps, 33)).toEqual([false, null, 60]);
    expect(shown(steps, 41)).toEqual([false, 1e12, 60]);
  });
});
