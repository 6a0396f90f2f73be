import { describe, expect, it } from 'vitest';
import { NodeRecord, SystemRecord, ValidatorRecord } from '../../../src/api/answers/machines.ts';
import type { Cell, Row, Table } from '../../../src/sources/content.ts';
import type { MachinesOptions } from '../../../src/sources/machines/options.ts';
import { machinesPage } from '../../../src/sources/machines/page.ts';
import type { Machine } from '../../../src/sources/machines/state.ts';
import type { Polls } from '../../../src/sources/source.ts';
import { html } from '../../../src/toolkit/lib/html.ts';
import { machinesOptions, nodeRecord, systemRecord, validatorRecord } from '../../support/answers/machine-records.ts';
import { slotAt } from '../../support/answers/slot-rows.ts';
import { HOUR, MINUTE, NOW, polls, timing } from '../../support/time/timing.ts';

type Fields = Record<string, unknown>;

/** The head of a healthy node a minute ago. */
const HEAD = slotAt('mainnet', NOW) - 5;
const UNSYNCED = { sync_eth2_synced: undefined, sync_beacon_head_slot: undefined };

function machine(
  name: string,
  ages: readonly (number | undefined)[],
  node: Fields = {},
  system: Fields = {},
  validator: Fields = { validator_active: 12 },
): Machine {
  const [ofSystem, ofValidator, ofNode] = ages.map((age) => age !== undefined && { timestamp: NOW - age });
  return {
    name,
    ...(ofSystem && { system: SystemRecord.parse(systemRecord({ ...ofSystem, ...system })) }),
    ...(ofValidator && { validator: ValidatorRecord.parse(validatorRecord({ ...ofValidator, ...validator })) }),
    ...(ofNode && { node: NodeRecord.parse(nodeRecord({ ...ofNode, sync_beacon_head_slot: HEAD, ...node })) }),
    learned: { chain: 'mainnet', executionClient: ['lighthouse', '8.0.0'] },
  };
}

function summary(machines: readonly Machine[], options: Partial<MachinesOptions> = {}, polled: Partial<Polls> = {}) {
  const {
    tables = [],
    notices = [],
    groups = [],
  } = machinesPage(machinesOptions(options), { machines: [...machines], dropped: 0 }, timing(), polls(polled));
  const [table] = tables as [Table];
  return { table, rows: [...table.rows], notices: notices.map(({ text }) => text), groups };
}

function stateOf(row: Row | undefined): unknown {
  return /^<span class="badge \w+">(.*)<\/span>$/.exec(markup(row?.[1]))?.[1];
}

function markup(cell: Cell | undefined): string {
  return html`${cell ?? ''}`.text;
}

const FRESH = [MINUTE, MINUTE, MINUTE];

it('lists urgent machines first, then those that can wait, then healthy ones', () => {
  const { rows, notices, table } = summary(
    [
      machine('fresh', FRESH),
      machine('behind', FRESH, UNSYNCED),
      machine('partly', [MINUTE, undefined, HOUR]),
      machine('late', [4 * MINUTE, 4 * MINUTE, 4 * MINUTE]),
      machine('silent', [HOUR, HOUR, HOUR]),
    ],
    { expected: ['never', 'fresh'] },
  );
  expect(rows.map((row) => [row[0], stateOf(row)])).toEqual([
    ['silent', 'silent'],
    ['behind', 'not synced'],
    ['never', 'never seen'],
    ['partly', 'partly silent'],
    ['late', 'late'],
    ['fresh', 'healthy'],
  ]);
  expect(table.size).toBe(6);
  expect(notices).toEqual([
    '1 machine silent: silent.',
    '1 machine not synced: behind.',
    '1 machine never seen: never.',
    '1 machine partly silent: partly.',
  ]);
});

it('counts the healthy machines of each group, and of no group', () => {
  const machines = [machine('node-a', FRESH), machine('home-1', FRESH, UNSYNCED)];
  const groups = [
    { name: 'office', machines: ['office-*'] },
    { name: 'home', machines: ['home-*'] },
    { name: 'keys', machines: [] },
  ];
  const found = summary(machines, { groups }).groups;
  expect(found.map(({ group, facts }) => [group, ...facts.map(([, cell]) => markup(cell))])).toEqual([
    ['office', '0 of 0 healthy'],
    ['home', '0 of 1 healthy<br><span class="badge bad">1 not synced</span>'],
    [undefined, '1 of 1 healthy'],
  ]);
});

it('is not green between rare polls, because the machine may have been silent for hours', () => {
  const polled = { intervalMs: 8 * HOUR, lastSuccessAt: NOW - 6 * HOUR };
  const { table } = summary([machine('a', [6 * HOUR, 6 * HOUR, 6 * HOUR])], { staleAfterMs: 19 * HOUR }, polled);
  expect([...table.rows].map(stateOf)).toEqual(['out of date']);
});

describe('has a notice if an alert fires', () => {
  const on = (...fields: [Fields, Fields?, Fields?]) => summary([machine('a', FRESH, ...fields)]).notices;
  const disk = (free: number): Fields => ({ disk_node_bytes_total: 1_000, disk_node_bytes_free: free });

  it.each<[string, readonly string[], readonly string[], string]>([
    ['disk', on({}, disk(50)), on({}, disk(100)), '1 machine with an almost full disk: a.'],
    [
      'execution client',
      on({ sync_eth1_connected: false }),
      on({ sync_eth1_connected: false, client_version: '8.0.1' }),
      '1 machine without an execution client: a.',
    ],
    ['sync', on(UNSYNCED), on({ ...UNSYNCED, sync_beacon_head_slot: HEAD - 15 }), '1 machine not synced: a.'],
    [
      'lag',
      on({ sync_beacon_head_slot: HEAD - 17 }),
      on({ sync_beacon_head_slot: HEAD - 15 }),
      '1 machine behind the clock: a.',
    ],
    [
      'validators',
      on({}, {}, { validator_total: 3, validator_active: 2 }),
      on({}, {}, { validator_total: null, validator_active: null }),
      '1 machine with validators that are not active: a.',
    ],
  ])('%s', (_, fires, not, text) => {
    expect(fires).toEqual([text]);
    expect(not).toEqual([]);
  });

  it('calls no node unsynced on an assumed chain', () => {
    const { notices, rows } = summary([{ ...machine('a', FRESH, UNSYNCED), learned: {} }]);
    expect([notices, rows[0]?.[3]]).toEqual([[], '']);
  });

  it('judges silence at the last successful poll and by the interval of polls', () => {
    const silent = [machine('a', [11 * MINUTE, 11 * MINUTE, 11 * MINUTE])];
    const told = (polled: Partial<Polls>) => summary(silent, {}, polled).notices;
    expect(told({})).toEqual(['1 machine silent: a.']);
    for (const polled of [{ lastSuccessAt: NOW - 2 * MINUTE }, { intervalMs: HOUR }, { lastSuccessAt: undefined }]) {
      expect(told(polled)).toEqual([]);
    }
  });

  it.each([
    ['two silent ones', ['b', 'c'], true],
    ['two silent ones, and one that died a day ago', ['b', 'c', 'dead'], true],
    ['one silent one, and one that died a day ago', ['b', 'dead'], false],
    ['a fresh one', ['b', 'c', 'fresh'], false],
  ])('reports that all are silent with %s: %s', (_, names, isTold) => {
    const ages: Record<string, number> = { fresh: MINUTE, b: 11 * MINUTE, c: 23 * HOUR, dead: 25 * HOUR };
    const fleet = names.map((name) => machine(name, Array(3).fill(ages[name])));
    const all = 'All machines are silent. Is your site down?';
    expect(summary(fleet).notices[0] === all).toBe(isTold);
  });

  it.each([
    ['only a group that is all silent', 'a1 a2 b1 c', ['All machines of 1 group are silent: a. Is the site down?']],
    ['machines in no group as one group', 'c d', ['All machines of no group are silent. Is your site down?']],
    ['no single machine', 'b2', []],
  ])('reports as silent: %s', (_, silent, told) => {
    const fleet = ['a1', 'a2', 'b1', 'b2', 'c', 'd'].map((name) =>
      machine(name, Array(3).fill(silent.split(' ').includes(name) ? 11 * MINUTE : MINUTE)),
    );
    const groups = ['a', 'b'].map((name) => ({ name, machines: [`${name}*`] }));
    const { notices } = summary(fleet, { groups });
    expect(notices.filter((text) => text.startsWith('All'))).toEqual(told);
  });
});
