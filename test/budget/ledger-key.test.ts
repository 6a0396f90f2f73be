import { describe, expect, it } from 'vitest';
import { EMPTY_BUCKET } from '../../src/budget/bucket.ts';
import { emptyLedger, type Ledger, sent as sentOn, unanswered, withKey } from '../../src/budget/ledger.ts';
import { MINUTE, NOW } from '../support/time/timing.ts';
import { opensAt, type Told, told as toldOn } from './told.ts';

const ROUTE = 'epoch_slots https://v1';
const OTHER = 'machine_metrics https://v2';
const BUDGET_OPTIONS = { utilization: 1 };
const VALID = { 'ratelimit-validapikey': 'true' };
const MONTH = {
  'x-ratelimit-limit-second': '1',
  'x-ratelimit-limit-month': '1000',
  'x-ratelimit-remaining-month': '600',
};
const INVALID = { 'ratelimit-validapikey': 'false' };

function told(ledger: Ledger, status: number, answer: Told = {}): Ledger {
  return toldOn(ledger, ROUTE, { status, isProbe: true, ...answer });
}

const sent = (ledger: Ledger, at: number): Ledger => sentOn(ledger, ROUTE, BUDGET_OPTIONS, at);

const known = withKey(emptyLedger(), 'this key', NOW - MINUTE);
const refused = told(known, 401);
const revoked = told(known, 429, { revoked: true });
const mayProbe = withKey(revoked, 'this key', NOW + 10 * MINUTE);

describe('budget/ledger: the key', () => {
  it('is unknown at first, and valid after any answer that does not refuse it', () => {
    expect(emptyLedger().key.standing).toBe('unknown');
    for (const status of [200, 400, 403, 404, 405, 429, 500, 502]) {
      expect(told(emptyLedger(), status).key).toMatchObject({ standing: 'valid', since: NOW, mayProbe: false });
    }
  });

  it('may be tried a minute after a 401, then once every 10 min, on any route', () => {
    // A request that was sent before is refused too.
    for (const ledger of [refused, told(refused, 401, { isProbe: false })]) {
      for (const route of [ROUTE, OTHER]) expect(opensAt(ledger, route)).toBe(NOW + MINUTE);
    }
    const asked = sent(refused, NOW + MINUTE);
    expect(opensAt(asked, OTHER)).toBe(NOW + 2 * MINUTE);
    const again = told(asked, 401, { at: NOW + MINUTE + 300 });
    expect(opensAt(again, ROUTE)).toBe(NOW + 11 * MINUTE + 300);
    expect(opensAt(told(asked, 200, { at: NOW + MINUTE + 300 }), ROUTE)).toBe(0);
  });

  it('learns no bucket and no limits from a 401, which has those of anonymous callers', () => {
    const headers = { ...INVALID, 'ratelimit-bucket': 'default', 'x-ratelimit-limit-second': '2' };
    expect({ ...told(known, 401, { headers }), key: known.key }).toEqual(known);
    // A refused or revoked request is not charged, because that would lower the count of others.
    const valid = told(sent(known, NOW), 200, { headers: { ...VALID, ...MONTH } });
    for (const answer of [{ status: 401 }, { status: 429, revoked: true }]) {
      const { buckets } = told(sent(valid, NOW + 1), answer.status, { ...answer, at: NOW + 2 });
      expect(Object.values(buckets)[0]?.month).toEqual(Object.values(valid.buckets)[0]?.month);
    }
  });

  it('stays refused after a server error, which says nothing about the key', () => {
    const at = NOW + MINUTE;
    for (const status of [429, 500, 503]) {
      const { key } = told(sent(refused, at), status, { at });
      expect(key).toMatchObject({ standing: 'refused', since: at });
      expect(told(sent(refused, at), status, { at, headers: INVALID }).key.standing).toBe('refused');
      expect(told(sent(refused, at), status, { at, headers: VALID }).key.standing).toBe('valid');
    }
  });

  it('is tried again a minute after a server error or a lost answer, until a second 401', () => {
    const failed = (ledger: Ledger, at: number): Ledger[] => [
      told(sent(ledger, at), 503, { at }),
      unanswered(sent(ledger, at), ROUTE, BUDGET_OPTIONS, at),
    ];
    const [second, third] = [NOW + MINUTE, NOW + 2 * MINUTE];
    for (const ledger of failed(refused, second)) {
      expect(opensAt(ledger, OTHER)).toBe(third);
      for (const again of failed(told(sent(ledger, third), 401, { at: third }), third + 10 * MINUTE))
        expect(opensAt(again, ROUTE)).toBe(third + 20 * MINUTE);
    }
  });

  it('stays refused after an answer to a request that was sent before the refusal', () => {
    for (const closed of [refused, revoked]) {
      const late = told(closed, 200, { isProbe: false, at: NOW + 300, headers: VALID });
      expect(late.key).toEqual(closed.key);
    }
  });
});

describe('budget/ledger: revoked', () => {
  it('never opens by itself, whatever reset the headers name', () => {
    const ledger = told(emptyLedger(), 429, { revoked: true, headers: { 'retry-after': '36644', ...VALID } });
    for (const route of [ROUTE, OTHER]) expect(opensAt(ledger, route)).toBe(Number.POSITIVE_INFINITY);
  });

  it('survives a start with the same key, and allows one request 10 min after the last refusal', () => {
    expect(withKey(revoked, 'this key', NOW + 10 * MINUTE - 1)).toBe(revoked);
    expect(opensAt(mayProbe, ROUTE)).toBe(0);
    const asked = sent(mayProbe, NOW + 5);
    expect(asked.key).toMatchObject({ standing: 'revoked', since: NOW + 5, mayProbe: false });
    expect(opensAt(asked, ROUTE)).toBe(Number.POSITIVE_INFINITY);
  });

  it('ends with another key, as a refusal does', () => {
    for (const closed of [revoked, refused]) {
      const other = withKey(closed, 'another key', NOW);
      expect(other.key).toEqual({ fingerprint: 'another key', standing: 'unknown', since: 0, mayProbe: false });
      expect(opensAt(other, ROUTE)).toBe(0);
    }
    expect(withKey(refused, 'this key', NOW + 10 * MINUTE).key).toMatchObject({ standing: 'refused', since: NOW });
  });

  it('ends when that request is answered', () => {
    const at = NOW + 5;
    expect(opensAt(told(sent(mayProbe, at), 200, { at: at + 300 }), ROUTE)).toBe(0);
    const again = told(sent(mayProbe, at), 429, { at: at + 300, revoked: true });
    expect(again.key).toMatchObject({ standing: 'revoked', since: at + 300, mayProbe: false });
  });

  it.each([{}, { ...MONTH, 'x-ratelimit-remaining-month': '0' }])(
    'asks once the wait of another 429 is over: %j',
    (left) => {
      const closed = told(sent(mayProbe, NOW), 429, { headers: { 'retry-after': '1407', ...left } });
      const asking = withKey(closed, 'this key', NOW + 10 * MINUTE);
      expect(opensAt(asking, ROUTE)).toBe(NOW + 1_407_000);
    },
  );
});

describe('budget/ledger: a quota that is used up', () => {
  const month = { limit: 1_000, own: 5, remaining: 0, since: NOW };
  const { key, ...empty } = emptyLedger();
  const usedUp: Ledger = {
    ...empty,
    buckets: { '': { ...EMPTY_BUCKET, limits: { second: 1, month: 1_000 }, month } },
    key: { ...key, fingerprint: 'this key', standing: 'valid', since: NOW },
  };

  it('may be probed at a start or a reload, at least 10 min after the last answer', () => {
    expect(opensAt(usedUp, ROUTE)).toBeGreaterThan(NOW);
    expect(opensAt(withKey(usedUp, 'this key', NOW + 10 * MINUTE - 1), ROUTE)).toBeGreaterThan(NOW);
    expect(opensAt(withKey(usedUp, 'this key', NOW + 10 * MINUTE), ROUTE)).toBe(0);
  });

  it('may be probed after a 429 that names the end of the month, but not during a shorter wait', () => {
    const at = NOW + 10 * MINUTE;
    const closedFor = (seconds: number): Ledger =>
      told(usedUp, 429, { headers: { 'ratelimit-window': 'month', 'ratelimit-reset': String(seconds) } });
    expect(opensAt(withKey(closedFor(2_000_000), 'this key', at - 1), ROUTE)).toBe(NOW + 2_000_000_000);
    const asking = withKey(closedFor(2_000_000), 'this key', at);
    expect(opensAt(asking, ROUTE)).toBe(0);
    // The next start does not probe at once, because a 429 is an answer.
    const same = told(sent(asking, at), 429, { at, headers: { 'ratelimit-reset': '2000000' } });
    expect(withKey(same, 'this key', at + MINUTE)).toEqual(same);
    expect(withKey(closedFor(3_600), 'this key', at)).toEqual(closedFor(3_600));
  });
});
