import { describe, expect, it } from 'vitest';
import { SchemaDrift } from '../../src/exporter/drift.ts';
import { logLines } from '../support/log-lines.ts';
import { machinesPage, systemRecord } from '../support/machine-records.ts';
import { DAY, HOUR, NOW } from '../support/timing.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

function begin() {
  const clock = new VirtualClock(NOW);
  const { log, lines } = logLines();
  const drift = new SchemaDrift(clock, log);
  /** By kind. */
  const counts = () =>
    Object.fromEntries(drift.samples(['machine_metrics']).map((one) => [one.labels['kind'], one.value]));
  const note = (...system: unknown[]): void => drift.note('machine_metrics', machinesPage({ system }));
  return { clock, lines, drift, counts, note };
}

describe('exporter/drift', () => {
  it('begins at 0 for each endpoint and kind', () => {
    const { drift } = begin();
    expect(drift.samples(['machine_metrics', 'epoch_slots']).map(({ value }) => value)).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it('counts each difference once, and logs it once', () => {
    const { note, counts, lines } = begin();
    const { cpu_cores: _, ...record } = systemRecord({ colour: 'red', misc_os: 3 });
    for (let i = 0; i < 3; i += 1) note(record);
    expect(counts()).toEqual({ absent: 1, unknown: 1, type: 1 });
    expect(lines.map(({ level, kind, field, detail }) => [level, kind, field, detail])).toEqual([
      ['info', 'absent', 'data.system_metrics[].cpu_cores', undefined],
      ['info', 'type', 'data.system_metrics[].misc_os', 'a number instead of a string'],
      ['info', 'unknown', 'data.system_metrics[].colour', undefined],
    ]);
  });

  it('does not count what answers have not shown for a day, and counts it again when it is back, without a word', async () => {
    const { clock, note, counts, lines } = begin();
    for (let i = 0; i < 3; i += 1) note(systemRecord({ colour: 'red' }));
    await clock.advance(DAY);
    note(systemRecord());
    expect(counts()).toMatchObject({ unknown: 1 });
    await clock.advance(1);
    // Without an answer nothing is known to be better.
    expect(counts()).toMatchObject({ unknown: 1 });
    note(systemRecord());
    expect(counts()).toMatchObject({ unknown: 0 });
    note(systemRecord({ colour: 'red' }));
    expect(counts()).toMatchObject({ unknown: 1 });
    expect(lines).toHaveLength(1);
  });

  it('does not count a single odd answer once the next is as specified', async () => {
    const { clock, note, counts } = begin();
    note({ ...systemRecord(), misc_os: 3 });
    expect(counts()).toMatchObject({ type: 1 });
    await clock.advance(HOUR);
    note(systemRecord());
    expect(counts()).toMatchObject({ type: 0 });
  });

  it('finds a unit that has changed, but not two that were there from the start', async () => {
    const inSeconds = systemRecord({ timestamp: 1_790_769_623 });
    const changed = begin();
    changed.note(systemRecord());
    await changed.clock.advance(HOUR);
    changed.note(inSeconds);
    expect(changed.counts()).toEqual({ absent: 0, unknown: 0, type: 1 });
    expect(changed.lines).toMatchObject([{ field: 'data.system_metrics[].timestamp', detail: 'now in seconds' }]);
    const mixed = begin();
    mixed.note(systemRecord(), inSeconds);
    mixed.note(inSeconds);
    expect(mixed.counts()).toMatchObject({ type: 0 });
  });

  it('an error in place of data is no drift', () => {
    const { drift, counts } = begin();
    for (const answer of [null, 'x', { error: 'x' }, { status: 'ERROR: x', data: null }, { data: 'x' }]) {
      drift.note('machine_metrics', answer);
    }
    expect(counts()).toEqual({ absent: 0, unknown: 0, type: 0 });
  });

  it('remembers a bounded number of names', () => {
    const { note, counts, lines } = begin();
    for (let i = 0; i < 300; i += 1) note(systemRecord({ [`field_${i}`]: 1 }));
    expect(counts()).toMatchObject({ unknown: 100 });
    expect(lines).toHaveLength(100);
  });
});
