import { describe, expect, it } from 'vitest';
import type { Ledger } from '../../src/budget/ledger.ts';
import type { SourceView } from '../../src/scheduler/schedules.ts';
import type { Entry } from '../../src/state/entry.ts';
import { noticesOf } from '../../src/web/headline.ts';
import { statusOf } from '../../src/web/status.ts';
import type { StatusInput } from '../../src/web/status-input.ts';
import { knownIn, type StateName } from '../support/status-states.ts';
import { DAY, HOUR, MINUTE, NOW } from '../support/timing.ts';

function verdict(known: StatusInput, now = NOW): string {
  const views = known.views.map((view) => ({ ...view, timing: { ...view.timing, now } }));
  return statusOf({ ...known, views }, now, false).verdict.text;
}

function texts(known: StatusInput): string[] {
  return noticesOf(known, NOW).map(({ text }) => text);
}

function withKey(key: Partial<Ledger['key']>, state: StateName = 'healthy'): StatusInput {
  const known = knownIn(state);
  return { ...known, ledger: { ...known.ledger, key: { ...known.ledger.key, ...key } } };
}

const FAILING: Partial<Entry> = {
  failuresInARow: 2,
  lastError: { at: NOW - MINUTE, reason: 'timeout', message: 'epoch_slots: timeout (made up)' },
};

/** Some sources with other entries. */
function withEntries(change: Partial<Entry>, names: readonly string[]): StatusInput {
  const known = knownIn('healthy');
  const views = known.views.map((view) =>
    names.includes(view.source.name) ? { ...view, entry: { ...view.entry, ...change } } : view,
  );
  return { ...known, views };
}

describe('web/headline', () => {
  it.each<[StateName, string]>([
    ['healthy', 'Working'],
    ['stretched', 'Working'],
    ['revoked', 'Stopped: access is revoked'],
    ['empty', 'Starting'],
  ])('%s: %s', (state, text) => {
    expect(verdict(knownIn(state))).toBe(text);
  });

  it('says nothing where there is nothing to say', () => {
    expect(texts(knownIn('healthy'))).toEqual([]);
  });

  it('tells of a configuration that was refused, also when access is revoked', () => {
    for (const state of ['healthy', 'revoked'] as const) {
      expect(texts({ ...knownIn(state), isConfigRead: false })[0]).toContain('The last configuration reload failed.');
    }
  });

  it('tells what the budget changes', () => {
    expect(texts(knownIn('stretched'))).toEqual([
      'The budget does not allow the configured intervals: machines every 2 h 55 min instead of 1 min; validators of mainnet every 6 h 4 min instead of 6 min 24 s; slashings of mainnet every 3 h 39 min instead of 1 min 5 s; slashings of hoodi every 3 h 39 min instead of 1 min 5 s.',
    ]);
  });

  it('tells of the key before all else, and what ends it', () => {
    const revoked = texts(knownIn('revoked'));
    expect(revoked).toHaveLength(1);
    expect(revoked[0]).toMatch(
      /^The service revoked access 3 h ago: .* until you set another key or restart the exporter\.$/,
    );
    const refused = withKey({ standing: 'refused', since: NOW - 5 * MINUTE });
    expect(verdict(refused)).toBe('Not working: the key is refused');
    expect(texts(refused)[0]).toContain('5 min ago');
    const doubtful = withKey({ validHeader: false });
    expect(verdict(doubtful)).toBe('Needs attention: The service reports that the key is not valid');
  });

  it('names the sources that fail, and calls it not working when all do', () => {
    const one = withEntries(FAILING, ['machines']);
    expect([verdict(one), ...texts(one)]).toEqual([
      'Working, with warnings: 1 of 8 sources failing',
      '1 of 8 sources failing: machines.',
    ]);
    const all = withEntries(FAILING, ['machines', 'validators', 'slashings', 'daily_returns', 'sync_committee']);
    expect(verdict(all)).toBe('Not working: sources are failing');
  });

  describe('in an outage', () => {
    const WARNING = 'Working, with warnings: 4 of 8 sources failing';
    const OFTEN = ['machines', 'validators', 'slashings'];
    const HOURLY = ['daily_returns', 'sync_committee'];

    /** The sources that are polled often fail since the outage began. The others were polled long before. */
    function outage(minutes: number, change: Partial<Entry> = {}): StatusInput {
      const failingSince = NOW - minutes * MINUTE;
      const lastSuccessAt = failingSince - MINUTE;
      const failing = withEntries({ ...FAILING, failingSince, lastSuccessAt, ...change }, OFTEN);
      const daily = withEntries({ lastSuccessAt: NOW - 5 * HOUR }, HOURLY).views;
      const views = failing.views.map((view, i) => (OFTEN.includes(view.source.name) ? view : (daily[i] ?? view)));
      return { ...failing, views };
    }

    it('does not wait for the sources that are not due for hours', () => {
      expect(verdict(outage(4))).toBe(WARNING);
      for (const minutes of [5, 12, 200]) expect(verdict(outage(minutes))).toBe('Not working: sources are failing');
    });

    it('works as long as any source has succeeded since', () => {
      const known = outage(6);
      const daily = { lastSuccessAt: NOW - MINUTE };
      const views = known.views.map((view) =>
        view.source.name === 'daily_returns' ? { ...view, entry: { ...view.entry, ...daily } } : view,
      );
      expect(verdict({ ...known, views })).toBe(WARNING);
    });

    it('is not one failure of a source that is rarely polled, nor a 403', () => {
      expect(verdict(outage(6, { failuresInARow: 1 }))).toBe(WARNING);
      expect(verdict(outage(6, { pausedUntil: NOW + HOUR }))).toBe(WARNING);
    });

    it('needs attention where values are withdrawn because their polls fail, although others succeed', () => {
      // Their newest records are half a minute old.
      const known = withEntries({ ...FAILING, lastSuccessAt: NOW }, ['machines']);
      const later = (minutes: number): string => {
        const now = NOW + minutes * MINUTE;
        const views = known.views.map((view) =>
          view.source.name === 'machines'
            ? { ...view, nextAttemptAt: now }
            : { ...view, nextAttemptAt: now, entry: { ...view.entry, lastSuccessAt: now } },
        );
        return verdict({ ...known, views }, now);
      };
      expect(later(9)).toMatch(/^Working, with warnings/);
      expect(later(10)).toBe('Needs attention: old values are withdrawn');
      expect(later(60)).toMatch(/^Needs attention: /);
    });
  });

  it('does not call a wait for the budget a failure', () => {
    const lastError = { at: NOW, reason: 'BudgetClosed', message: 'no request before ...' };
    expect(texts(withEntries({ ...FAILING, lastError }, ['machines']))).toEqual([]);
  });

  it('tells until when the service has closed the budget', () => {
    const known = knownIn('healthy');
    const [[name, bucket] = ['', undefined]] = Object.entries(known.ledger.buckets);
    if (!bucket) throw new Error('no bucket');
    const buckets = { [name]: { ...bucket, closedUntil: NOW + 2 * HOUR } };
    const closed = { ...known, ledger: { ...known.ledger, buckets } };
    expect(texts(closed)).toEqual(['No requests are allowed now. They resume in 2 h.']);
    expect(verdict(closed)).toBe('Working, with warnings: No requests are allowed now');
  });

  it('tells which sources wait for what, until when, and calls it not working where all do', () => {
    const wait = { until: NOW + 9 * DAY, limit: 'month' } as const;
    const known = knownIn('healthy');
    const waiting = (names: readonly string[], of: SourceView['wait'] = wait): StatusInput => ({
      ...known,
      views: known.views.map((view) => (of && names.includes(view.source.name) ? { ...view, wait: of } : view)),
    });
    const some = waiting(['machines', 'sync_committee']);
    expect([verdict(some), ...texts(some)]).toEqual([
      'Waiting for the quota: 3 of 8 sources',
      'Waiting for the monthly quota, until 2026-10-09 12:01:00 UTC (in 9 d): sync committee of mainnet, sync committee of hoodi, machines. Stale values are withdrawn, as in an outage.',
    ]);
    const all = waiting(known.views.map(({ source }) => source.name));
    expect(verdict(all)).toBe('Not working: all sources wait for the quota');
    const refused = waiting(['machines'], { ...wait, limit: '429' });
    expect(texts(refused)[0]).toMatch(/^Waiting for the service, which responded with 429, until 2026-10-09/);
  });

  it('does not call what a 429 refused failing while it waits for the quota', () => {
    const wait = { until: NOW + 9 * DAY, limit: 'month' } as const;
    const lastError = { at: NOW, reason: 'rate_limited', message: 'machine_metrics: rate_limited' };
    const known = withEntries({ failuresInARow: 1, lastError }, ['machines']);
    const views = known.views.map((view) => (view.source.name === 'machines' ? { ...view, wait } : view));
    expect(verdict({ ...known, views })).toBe('Waiting for the quota: 1 of 8 sources');
  });

  it('tells how many sources have not been polled yet', () => {
    const { lastAttemptAt: _, ...never } = knownIn('empty').views[0]?.entry ?? {};
    const known = knownIn('healthy');
    const views = known.views.map((view) =>
      view.source.name === 'machines' ? { ...view, entry: never as never } : view,
    );
    expect(texts({ ...known, views })).toEqual(['1 of 8 sources not polled yet.']);
  });

  it('tells of a state that could not be written in the last quarter of an hour, as its alert does', () => {
    const known = { ...knownIn('healthy'), unwrittenAt: NOW - 14 * MINUTE };
    expect([verdict(known), ...texts(known)]).toEqual([
      'Needs attention: The state could not be written 14 min ago',
      'The state could not be written 14 min ago. New values are not shown until they are stored. See the log for the reason.',
    ]);
    expect(texts({ ...known, unwrittenAt: NOW - 16 * MINUTE })).toEqual([]);
  });

  it('tells of a source that is due and not polled, on the replica that polls', () => {
    const known = knownIn('healthy');
    const late = (ms: number): StatusInput => ({
      ...known,
      views: known.views.map((view) => (view.source.name === 'machines' ? { ...view, nextAttemptAt: NOW - ms } : view)),
    });
    expect(texts(late(16 * MINUTE))).toEqual(['Overdue: machines. Check the log and restart the exporter.']);
    expect(texts(late(14 * MINUTE))).toEqual([]);
    expect(texts({ ...late(16 * MINUTE), isLeader: false })).toEqual([]);
  });
});
