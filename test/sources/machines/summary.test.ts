import { describe, expect, it } from 'vitest';
import { html } from '../../../src/lib/html.ts';
import type { Cell, Row, Table } from '../../../src/sources/content.ts';
import type { MachinesOptions } from '../../../src/sources/machines/options.ts';
import { type Machine, NodeRecord, SystemRecord, ValidatorRecord } from '../../../src/sources/machines/schema.ts';
import { machinesSummary } from '../../../src/sources/machines/summary.ts';
import { machinesOptions, nodeRecord, systemRecord, validatorRecord } from '../../support/machine-records.ts';
import { HOUR, MINUTE, NOW, timing } from '../../support/timing.ts';

type Fields = Record<string, unknown>;

const NOT_RUN = undefined;

function machine(name: string, ages: readonly (number | undefined)[], node: Fields = {}, system: Fields = {}): Machine {
  const [ofSystem, ofValidator, ofNode] = ages.map((age) => age !== undefined && { timestamp: NOW - age });
  return {
    name,
    ...(ofSystem && { system: SystemRecord.parse(systemRecord({ ...ofSystem, ...system })) }),
    ...(ofValidator && { validator: ValidatorRecord.parse(validatorRecord(ofValidator)) }),
    ...(ofNode && { node: NodeRecord.parse(nodeRecord({ ...ofNode, ...node })) }),
  };
}

function summary(machines: readonly Machine[], options: Partial<MachinesOptions> = {}, dropped = 0) {
  const { tables = [], notices = [] } = machinesSummary(
    machinesOptions(options),
    { machines: [...machines], dropped },
    timing(),
  );
  const [table] = tables as [Table];
  return { table, rows: [...table.rows], notices: notices.map(({ text }) => text) };
}

function stateOf(row: Row | undefined): unknown {
  return /^<span class="badge \w+">(.*)<\/span>$/.exec(markup(row?.[1]))?.[1];
}

function markup(cell: Cell | undefined): string {
  return html`${cell ?? ''}`.text;
}

const FRESH = [MINUTE, MINUTE, MINUTE];

describe('sources/machines/summary', () => {
  it('puts those first that want looking after: never seen, silent, partly silent, not synced', () => {
    const { rows, notices, table } = summary(
      [
        machine('fresh', FRESH),
        machine('behind', FRESH, { sync_eth2_synced: false }),
        machine('partly', [MINUTE, NOT_RUN, HOUR]),
        machine('silent', [HOUR, HOUR, HOUR]),
      ],
      { expected: ['never', 'fresh'] },
    );
    expect(rows.map((row) => [row[0], stateOf(row)])).toEqual([
      ['never', 'never seen'],
      ['silent', 'silent'],
      ['partly', 'partly silent'],
      ['behind', 'not synced'],
      ['fresh', 'fresh'],
    ]);
    expect(table.size).toBe(5);
    expect(notices).toEqual([
      '1 machine never seen: never.',
      '1 machine silent: silent.',
      '1 machine partly silent: partly.',
      '1 machine not synced: behind.',
    ]);
  });

  it('tells of each process when it reported, and of one that is fresh with what client', () => {
    const [row] = summary([machine('a', [MINUTE, NOT_RUN, 2 * MINUTE])]).rows;
    expect(markup(row?.[3]).split('<br>')).toEqual([
      'system, 1 min ago <small class="at">12:00:00 UTC</small>',
      'node lighthouse 8.0.0, 2 min ago <small class="at">11:59:00 UTC</small>',
    ]);
  });

  it('withdraws what is too old, as the metrics do', () => {
    const [row] = summary([machine('a', [HOUR, HOUR, HOUR])]).rows;
    expect(row?.slice(4)).toEqual(['', '', '']);
    expect(markup(row?.[3])).not.toContain('lighthouse');
  });

  it('counts cache and buffers as free memory, and a full disk as full', () => {
    const [row] = summary([machine('a', FRESH, {}, { disk_node_bytes_free: undefined })]).rows;
    expect(markup(row?.[5])).toMatch(/<rect class="used" width="47.9%"\/><\/svg>48 % of 67 GB$/);
    expect(markup(row?.[6])).toMatch(/<rect class="full" width="100%"\/><\/svg>100 % of 3.9 TB$/);
  });

  it('says nothing of what a record does not say', () => {
    const nothing = { memory_node_bytes_total: null, disk_node_bytes_free: null };
    const [row] = summary([machine('a', FRESH, { sync_eth2_synced: null }, nothing)]).rows;
    expect([stateOf(row), ...(row?.slice(4) ?? [])]).toEqual(['fresh', '', '', '']);
  });

  it('shows those that the metrics show, under the chain that they are of', () => {
    const rules = { chainRules: [{ match: 'h-*', chain: 'hoodi' as const }], exclude: ['out'] };
    const { rows } = summary([machine('h-1', FRESH), machine('out', FRESH)], rules);
    expect(rows.map((row) => [row[0], row[2]])).toEqual([['h-1', 'hoodi']]);
  });

  it('crops a name of any length, names a few of many and tells of those left out', () => {
    const many = Array.from({ length: 7 }, (_, i) => machine(`${i}${'x'.repeat(1_000)}`, [HOUR]));
    const { rows, notices } = summary(many, {}, 3);
    expect(String(rows[0]?.[0])).toHaveLength(100);
    expect(notices[0]).toMatch(/^7 machines silent: 0x+…, 1x+…, 2x+…, 3x+…, 4x+… and others\.$/);
    expect(notices[1]).toBe('3 machines left out: more than machines.max.');
  });
});
