import { describe, expect, it } from 'vitest';
import type { Entry } from '../../src/state/entry.ts';
import { sourcesTable, stateOf } from '../../src/web/status-sources.ts';
import { knownIn } from '../support/status-states.ts';
import { HOUR, MINUTE, NOW } from '../support/timing.ts';

const [view] = knownIn('healthy').views.filter(({ source }) => source.name === 'machines');
if (!view) throw new Error('no machines');

const WAIT = { until: NOW + 12 * HOUR, limit: 'month' } as const;

function stateWith(entry: Partial<Entry>, overrides: Partial<typeof view> = {}): unknown[] {
  const { tone, text } = stateOf(
    { ...(view as NonNullable<typeof view>), ...overrides, entry: { ...view?.entry, ...entry } as Entry },
    NOW,
  );
  return [tone, text];
}

function error(reason: string): Entry['lastError'] & object {
  return { at: NOW - MINUTE, reason, message: `machine_metrics: ${reason} (made up)` };
}

describe('web/status-sources', () => {
  it.each([
    ['up', {}, {}, ['good', 'up']],
    ['never polled', { attempts: 0 }, {}, ['neutral', 'not polled yet']],
    ['at its first poll', { attempts: 0 }, { running: true }, ['neutral', 'first poll']],
    ['failing', { failuresInARow: 1, lastError: error('timeout') }, {}, ['bad', 'failing']],
    ['failing for long', { failuresInARow: 9, lastError: error('timeout') }, {}, ['bad', 'failing, 9 in a row']],
    ['paused', { failuresInARow: 1, lastError: error('forbidden'), pausedUntil: NOW + HOUR }, {}, ['bad', 'paused']],
    ['out of budget', { failuresInARow: 1, lastError: error('BudgetClosed') }, {}, ['warning', 'waits for the budget']],
    ['waiting for the quota', {}, { wait: WAIT }, ['warning', 'waits for the quota']],
    [
      'waiting for the quota since a 429',
      { failuresInARow: 1, lastError: error('rate_limited') },
      { wait: WAIT },
      ['warning', 'waits for the quota'],
    ],
    ['stopped', {}, { nextAttemptAt: Number.POSITIVE_INFINITY }, ['bad', 'stopped']],
  ])('tells of a source that is %s', (_, entry, overrides, expected) => {
    expect(stateWith(entry, overrides)).toEqual(expected);
  });

  it('tells when it was and will be read, how often against how often it should, and what went wrong last', () => {
    const pace = { ...view.pace, intervalMs: 2 * HOUR, requestsPerDay: 12 };
    const entry = { ...view.entry, lastError: error('rate_limited') };
    const [row] = sourcesTable([{ ...view, pace, entry }], NOW).rows;
    expect(row).toEqual([
      'machines',
      { kind: 'badge', tone: 'good', text: 'up' },
      { kind: 'time', at: NOW - 19_000 },
      { kind: 'time', at: NOW + 40_000 },
      {
        kind: 'lines',
        lines: [['2 h'], [{ kind: 'quiet', text: 'configured 1 min' }], [{ kind: 'quiet', text: '12 requests a day' }]],
      },
      {
        kind: 'lines',
        lines: [
          [{ kind: 'badge', tone: 'neutral', text: 'rate limited' }, ' ', { kind: 'time', at: NOW - MINUTE }],
          [{ kind: 'quiet', text: 'machine_metrics: rate_limited (made up)' }],
        ],
      },
    ]);
  });
});
