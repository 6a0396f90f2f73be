import { describe, expect, it } from 'vitest';
import type { Attempt } from '../../src/scheduler/entry.ts';
import type { SourceView } from '../../src/scheduler/schedules.ts';
import { sourcesTable, stateOf } from '../../src/status-page/status-sources.ts';
import { html } from '../../src/toolkit/lib/html.ts';
import { HOUR, MINUTE, NOW } from '../support/time/timing.ts';
import { knownIn, withFirst } from '../support/web/status-states.ts';

const HEALTHY = await knownIn('healthy');
const MACHINES = viewOf('machines');

const WAIT = { until: NOW + 12 * HOUR, limit: 'month' } as const;

function viewOf(name: string): SourceView {
  const view = HEALTHY.views.find(({ source }) => source.name === name);
  if (!view) throw new Error(`no ${name}`);
  return view;
}

function error(reason: string): Attempt['lastError'] & object {
  return { at: NOW - MINUTE, reason, message: `machine_metrics: ${reason} (made up)` };
}

describe('web/status-sources', () => {
  it.each([
    ['up', {}, {}, ['good', 'up']],
    ['never polled', { lastAttemptAt: undefined } as never, {}, ['neutral', 'not polled yet']],
    ['failing', { failuresInARow: 1, lastError: error('timeout') }, {}, ['warning', 'failing']],
    ['failing for long', { failuresInARow: 9, lastError: error('timeout') }, {}, ['warning', 'failing, 9 in a row']],
    ['waiting for the quota', {}, { wait: WAIT }, ['warning', 'waits for the quota']],
    ['stopped', {}, { nextAttemptAt: Number.POSITIVE_INFINITY }, ['bad', 'stopped']],
  ])('shows the state of a source that is %s', (_, attempt, schedule, expected) => {
    const { tone, text } = stateOf(withFirst(MACHINES, { ...schedule, attempt }), NOW);
    expect([tone, text]).toEqual(expected);
  });

  it('calls a source failing if any of its reads fails, and shows the newest error of all', () => {
    const { entry, ...view } = viewOf('validators');
    const failing = (at: number) => ({ failuresInARow: 1, durationMs: 0, lastError: { ...error('timeout'), at } });
    const reads = { ...entry.reads, duties: failing(NOW - HOUR), rewards: failing(NOW - MINUTE) };
    const [row] = sourcesTable([{ ...view, entry: { ...entry, reads } }], NOW).rows;
    expect(html`${row?.[1] ?? ''}`.text).toBe('<span class="badge warning">failing</span>');
    expect(html`${row?.[5] ?? ''}`.text).toContain('1 min ago');
  });

  it('shows what the budget leaves out', () => {
    const { source } = MACHINES;
    const more = { ...source.more, leavesOut: () => 'epoch rewards cannot keep up' };
    const [row] = sourcesTable([{ ...MACHINES, source: { ...source, more } }], NOW).rows;
    expect(html`${row?.[4] ?? ''}`.text).toMatch(/^every 1 min \(epoch rewards cannot keep up\), /);
  });

  it('shows last and next poll, the effective interval, and the last error', () => {
    const pace = { ...MACHINES.first.pace, intervalMs: 2 * HOUR, requestsPerDay: 12 };
    const view = withFirst(MACHINES, { pace, attempt: { lastError: error('rate_limited') } });
    const [row] = sourcesTable([{ ...view, reads: [view.first] }], NOW).rows;
    expect(row?.map((cell) => html`${cell}`.text)).toEqual([
      'machines',
      '<span class="badge good">up</span>',
      '20 s ago <small class="at">12:00:40 UTC</small>',
      'in 46 s <small class="at">12:01:45 UTC</small>',
      'every 2 h, 12 requests a day',
      '<span class="badge neutral">rate limited</span> 1 min ago <small class="at">12:00:00 UTC</small><br>' +
        '<small>machine_metrics: rate_limited (made up)</small>',
    ]);
  });
});
