import { expect, it } from 'vitest';
import { type MachineRecord, SystemRecord } from '../../../src/api/answers/machines.ts';
import { afterRecords, trusted } from '../../../src/sources/machines/learned.ts';

/** Unix seconds: 2026-11-24. */
const START = 1_795_500_000;
const TB = 1e12;
/** The disk of the data of each client of one host, by the letter of its turn. */
const DISKS: Record<string, readonly [total: number, free: number]> = {
  b: [4 * TB, 0.1 * TB],
  v: [0.1 * TB, 0.06 * TB],
};

/** The disk that is shown after each record, one a minute. */
function shown(turns: string, sizeOf = (total: number, _minute: number) => total): (readonly [unknown, unknown])[] {
  const records = [...turns].map((turn, minute): MachineRecord => {
    const [total = 0, free = 0] = DISKS[turn] ?? [];
    const at = START + minute * 60;
    const disk = { disk_node_bytes_total: sizeOf(total, minute), disk_node_bytes_free: free };
    // Counters of the host, which both clients read: none falls.
    const host = { cpu_node_system_seconds_total: 1e6 + minute * 480, misc_node_boot_ts_seconds: START - 1e6 };
    return ['system', SystemRecord.parse({ timestamp: at, cpu_threads: 8, ...host, ...disk })];
  });
  return records.map((_, i) => {
    const machine = afterRecords({ name: 'a' }, records.slice(0, i + 1));
    const { system } = trusted(machine, (START + i * 60) * 1000);
    return [system?.disk_node_bytes_total, system?.disk_node_bytes_free] as const;
  });
}

it.each(['bvbvbvvbbv', 'bbbbbbvvvvvvbbbbbbvvvvvvvv'])(
  'shows one disk of a host whose clients report two in turn: %s',
  (turns) => {
    const settled = shown(turns).slice(turns.indexOf('vb') + 1);
    expect(settled).toEqual(settled.map(() => DISKS['b']));
  },
);

it('shows a replaced or remounted disk at once', () => {
  expect(shown('bbvvv').slice(2)).toEqual(Array.from('vvv', () => DISKS['v']));
  expect(shown('bbvvbb').slice(2)).toEqual(Array.from('vvbb', (turn) => DISKS[turn]));
});

it('does not take the changing size of a pool for a second disk', () => {
  const pool = shown('bbbbbbbb', (total, minute) => total - (minute % 2) * 1e9);
  expect(pool.map(([total]) => total)).toEqual(pool.map((_, minute) => 4 * TB - (minute % 2) * 1e9));
});
