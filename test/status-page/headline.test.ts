import { describe, expect, it } from 'vitest';
import type { Attempt } from '../../src/scheduler/entry.ts';
import { SOURCE_NAMES } from '../../src/sources/registry.ts';
import { noticesOf, type StatusInput } from '../../src/status-page/headline.ts';
import { statusOf } from '../../src/status-page/status.ts';
import { DAY, HOUR, MINUTE, NOW } from '../support/time/timing.ts';
import { changed, knownIn, withFirst, withKey } from '../support/web/status-states.ts';

function verdict(known: StatusInput): string {
  return statusOf(known, NOW).verdict.text;
}

function texts(known: StatusInput): string[] {
  return noticesOf(known, NOW).map(({ text }) => text);
}

const HEALTHY = await knownIn('healthy');
const GROUPED = await knownIn('grouped');
const STRETCHED = await knownIn('stretched');
const REVOKED = await knownIn('revoked');
const EMPTY = await knownIn('empty');

/** Some sources whose first read has another schedule or another last attempt. */
function withFirsts(names: readonly string[], change: Parameters<typeof withFirst>[1]): StatusInput {
  return changed(HEALTHY, (view) => (names.includes(view.source.name) ? withFirst(view, change) : {}));
}

/** Some sources whose first read fails. */
function failing(names: readonly string[], reason: string): StatusInput {
  return withFirsts(names, { attempt: failedBecauseOf(reason) });
}

function failedBecauseOf(reason: string): Partial<Attempt> {
  return { failuresInARow: 2, lastError: { at: NOW - MINUTE, reason, message: `epoch_slots: ${reason} (made up)` } };
}

describe('web/headline', () => {
  it('sums up the state in a few words', () => {
    const verdicts = [HEALTHY, STRETCHED, REVOKED, EMPTY].map(verdict);
    expect(verdicts).toEqual(['Working', 'Working', 'Stopped: access is revoked', 'Starting']);
  });

  it('has no notices if all is well', () => {
    expect(texts(HEALTHY)).toEqual([]);
  });

  it('reports a refused configuration with the reason, even if access is revoked', () => {
    for (const known of [HEALTHY, REVOKED]) {
      expect(texts({ ...known, reloadError: 'a.yaml:3: no number' })[0]).toBe(
        'The last configuration reload failed. The previous configuration is still in use. The reason: a.yaml:3: no number',
      );
    }
  });

  it('says how far the service is behind, and for which source', () => {
    const behind = withFirsts(['validators'], { attempt: { behindMs: 4.9 * HOUR } });
    expect(texts(behind)[0]).toMatch(/^The service is behind: its data are 4 h 54 min old: validators/);
    expect(verdict(behind)).toMatch(/^Working, 1 warning: The service is behind/);
    expect(texts(withFirsts(['validators'], { attempt: { behindMs: 0 } }))).toEqual([]);
  });

  it('counts what is healthy over all chains, but nothing whose values are withdrawn', () => {
    const counts = (known: StatusInput): string => statusOf(known, NOW).counts;
    expect(counts(GROUPED)).toBe('5 of 6 validators online, 3 of 4 machines healthy');
    const later = changed(GROUPED, ({ timing }) => ({ timing: { ...timing, now: NOW + DAY } }));
    expect(counts(later)).toBe('6 validators of unknown state, 0 of 1 machine healthy, 3 machines of unknown state');
    expect(counts(EMPTY)).toBe('1 validator of unknown state, 1 machine of unknown state');
  });

  it('reports stretched intervals', () => {
    expect(texts(STRETCHED)).toEqual([
      'Intervals stretched to stay within the limits: machines every 3 h 15 min instead of 1 min; validators of mainnet every 4 h 19 min instead of 6 min 24 s; network of mainnet every 1 d instead of 1 h; slashings of mainnet every 20 h 57 min instead of 1 min 5 s; slashings of hoodi every 20 h 50 min instead of 1 min 5 s.',
    ]);
  });

  it('reports the key before everything else, and how to fix it', () => {
    expect(texts(REVOKED)).toEqual([
      expect.stringMatching(
        /^The service revoked access 3 h ago: .* Set another key, or renew the plan: a restart or reload from 09:11:00 UTC \(2 h 50 min ago\) on asks again\.$/,
      ),
    ]);
    const refused = withKey(HEALTHY, { standing: 'refused', since: NOW - 5 * MINUTE });
    expect(verdict(refused)).toBe('Not working: the key is refused');
    expect(texts(refused)[0]).toMatch(
      /5 min ago\. .* again after a minute, .* If the service still refuses it, create/,
    );
    const doubtful = withKey(HEALTHY, { validHeader: false });
    expect(verdict(doubtful)).toBe('Critical: The service reports that the key is not valid');
  });

  it('names failing sources, and says not working if all that are polled often fail', () => {
    const one = failing(['machines'], 'timeout');
    expect([verdict(one), ...texts(one)]).toEqual([
      'Working, 1 warning: 1 of 9 sources failing',
      '1 of 9 sources failing: machines.',
    ]);
    const often = ['machines', 'validators', 'slashings'];
    expect(verdict(failing(often, 'timeout'))).toBe('Not working: sources are failing');
    expect(verdict(failing(often.slice(1), 'timeout'))).toMatch(/^Working, 1 warning: 3 of 9/);
  });

  it('does not call a wait for the budget a failure', () => {
    expect(texts(failing(['machines'], 'BudgetClosed'))).toEqual([]);
  });

  it('says which sources wait for which quota until when, and not working if all wait', () => {
    const wait = { until: NOW + 9 * DAY, limit: 'month' } as const;
    const some = withFirsts(['machines', 'sync_committee'], { wait });
    expect([verdict(some), ...texts(some)]).toEqual([
      'Waiting for the quota: 3 of 9 sources',
      'Waiting for the monthly quota, until 2026-10-09 12:01:00 UTC (in 9 d): sync committee of mainnet, sync committee of hoodi, machines. Stale values are withdrawn, as in an outage.',
    ]);
    expect(verdict(withFirsts(SOURCE_NAMES, { wait }))).toBe('Not working: polling paused until the quota resets');
    const refused = withFirsts(['machines'], { wait: { ...wait, limit: '429' } });
    expect(texts(refused)[0]).toMatch(/^Waiting for the service, which responded with 429, until 2026-10-09/);
    // What a 429 refused is not failing while it waits.
    const limited = withFirsts(['machines'], { wait, attempt: failedBecauseOf('rate_limited') });
    expect(verdict(limited)).toBe('Waiting for the quota: 1 of 9 sources');
  });

  it('reports a 404 that lasts an hour', () => {
    const head = { failuresInARow: 0, durationMs: 0, notFoundSince: NOW - HOUR };
    const failedFor = (ms: number): StatusInput => {
      const lastError = { at: NOW - HOUR + ms, reason: 'not_found', message: 'made up' };
      return changed(HEALTHY, ({ source, entry }) => {
        const isMeant = source.name === 'slashings' && source.chain === 'hoodi';
        return isMeant ? { entry: { ...entry, reads: { ...entry.reads, head: { ...head, lastError } } } } : {};
      });
    };
    expect(texts(failedFor(HOUR - 1))).toEqual([]);
    expect(texts(failedFor(HOUR))).toEqual([
      '404 for an hour where the service had data before: slashings of hoodi (head). The exporter polls once an hour. Look for a newer version of the exporter.',
    ]);
  });

  it('reports a failed write of the state in the last quarter of an hour, as its alert does', () => {
    const known = { ...HEALTHY, unwrittenAt: NOW - 14 * MINUTE };
    expect([verdict(known), ...texts(known)]).toEqual([
      'Critical: The state could not be written 14 min ago',
      'The state could not be written 14 min ago. New values are not shown until they are stored. See the log for the reason.',
    ]);
    expect(texts({ ...known, unwrittenAt: NOW - 16 * MINUTE })).toEqual([]);
  });

  it('reports an overdue source, only on the leader', () => {
    const late = (ms: number): StatusInput => withFirsts(['machines'], { nextAttemptAt: NOW - ms });
    expect(texts(late(16 * MINUTE))).toEqual(['Polls are overdue: machines. Check the log and restart the exporter.']);
    expect(texts(late(14 * MINUTE))).toEqual([]);
    expect(texts({ ...late(16 * MINUTE), isLeader: false })).toEqual([]);
  });
});
