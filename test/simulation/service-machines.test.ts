import { expect, test } from 'vitest';
import { DAY, HOUR, MINUTE, NOW } from '../support/timing.ts';
import { machinesBody } from './service/machine-pages.ts';
import { ARRAYS, fieldsOf, Machines } from './service/machines.ts';
import { calmSetting, type ServiceSetting } from './service/setting.ts';

type Row = Record<string, unknown> & { readonly timestamp: number; readonly machine: string };

/** All pages of a range: the records of each array, and how many requests they took. */
function read(
  machines: Machines,
  setting: ServiceSetting,
  { ms, names, size = 10 }: { ms: number; names?: string[]; size?: number },
) {
  const rows: Record<string, Row[]> = {};
  const timestamp = { start: Math.ceil((NOW - ms) / 1_000), end: Math.floor(NOW / 1_000) };
  let cursor = '';
  let pages = 0;
  do {
    const asked = { range: { timestamp }, page_size: size, cursor, ...(names ? { machines: names } : {}) };
    // What arrives between two pages is not among them.
    const { data, paging } = JSON.parse(
      machinesBody(machines, setting, JSON.stringify(asked), NOW + pages * MINUTE) ?? '',
    );
    for (const array of ARRAYS) rows[array] = [...(rows[array] ?? []), ...data[`${array}_metrics`]];
    cursor = paging.next_cursor;
    pages += 1;
  } while (cursor !== '');
  return { rows, pages };
}

const NAMES = ['b', 'a', 'c'];

test.each(['each', 'all'] as const)(
  'pages have every record once, newest first (page size over %s)',
  (pageSizeOver) => {
    const setting = calmSetting({ machines: NAMES, pageSizeOver });
    const machines = new Machines(setting);
    const { rows, pages } = read(machines, setting, { ms: HOUR });
    expect(pages).toBe(pageSizeOver === 'each' ? 18 : 54);
    for (const array of ARRAYS) {
      const times = rows[array]?.map(({ timestamp }) => timestamp) ?? [];
      expect(times).toEqual(times.toSorted((a, b) => b - a));
      expect(new Set(rows[array]?.map(({ timestamp, machine }) => `${timestamp} ${machine}`)).size).toBe(180);
      for (const name of NAMES) {
        const first = rows[array]?.find(({ machine }) => machine === name);
        expect(first?.timestamp).toBe(machines.newest(name, array, NOW)?.time);
      }
    }
  },
);

test('a cursor of other filters is refused', () => {
  const setting = calmSetting({ machines: NAMES });
  const machines = new Machines(setting);
  const range = { timestamp: { start: NOW / 1_000 - 3_600, end: NOW / 1_000 } };
  const first = machinesBody(machines, setting, JSON.stringify({ range, page_size: 10 }), NOW) ?? '';
  const cursor = JSON.parse(first).paging.next_cursor;
  const body = JSON.stringify({ range, page_size: 10, machines: ['a'], cursor });
  expect(machinesBody(machines, setting, body, NOW)).toBeUndefined();
});

test('a machine that has been silent for weeks is found at once', () => {
  const setting = calmSetting({ machines: NAMES });
  const machines = new Machines(setting);
  machines.silence('a', NOW - 30 * DAY);
  const newest = machines.newest('a', 'system', NOW)?.time ?? 0;
  expect(NOW - newest).toBeGreaterThan(30 * DAY);
  machines.wake('a', NOW - 5 * MINUTE);
  expect(NOW - (machines.newest('a', 'system', NOW)?.time ?? 0)).toBeLessThan(2 * MINUTE);
});

test('records come late, are spoilt, and tell of restarts and disks, from a time on', () => {
  const machines = new Machines(calmSetting({ machines: NAMES }));
  const ageOf = (name: string): number => NOW - (machines.newest(name, 'node', NOW)?.time ?? 0);
  machines.delay({ of: 'one', ms: 5 * MINUTE }, NOW - HOUR);
  expect([ageOf('b') >= 5 * MINUTE, ageOf('a') < 2 * MINUTE]).toEqual([true, true]);
  machines.spoil(1, NOW - 20 * MINUTE);
  expect(ageOf('a')).toBeGreaterThan(20 * MINUTE);
  machines.restart('a', NOW - 30 * MINUTE);
  machines.fillDisk('a', 0.01, NOW - 30 * MINUTE);
  const [node, system] = (['node', 'system'] as const).map((array) => machines.newest('a', array, NOW));
  if (!node || !system) throw new Error('no record');
  expect(Number(fieldsOf(node)['cpu_process_seconds_total'])).toBeLessThan(600);
  expect(fieldsOf(system)).toMatchObject({
    cpu_node_user_seconds_total: Math.floor(system.time / 1_000),
    disk_node_bytes_free: 10_000_000_000,
  });
});
