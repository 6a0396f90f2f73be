import { afterAll, describe, expect, it } from 'vitest';
import { createTransport } from '../../../src/api/transport.ts';
import { syncCommitteeSource } from '../../../src/sources/sync-committee/index.ts';
import type { SyncCommittee } from '../../../src/sources/sync-committee/schema.ts';
import { apiHarness, KEY } from '../../api/api-harness.ts';
import { httpMock } from '../../api/http-mock.ts';
import { endOf, membersAnswer, membersOptions, NOT_KNOWN_YET, NOW, periodAnswer } from '../../support/committees.ts';
import { HOUR, noSignal, timing } from '../../support/timing.ts';
import { settled } from '../../support/virtual-clock.ts';

const transport = createTransport({ timeoutMs: 10_000 });
afterAll(() => transport.close());

const PERIOD_URL = 'https://api.test/api/v2/ethereum/sync-committee';
const V1_URL = 'https://api.test/api/v1/sync_committee';

/** 512 seats in committee order; 7 holds three of them. */
const SEATS = Array.from({ length: 512 }, (_, seat) => (seat % 200 === 5 ? 7 : 1_000_000 + ((seat * 7919) % 100_003)));

describe('sources/sync-committee/members on the wire', () => {
  const http = httpMock();
  const source = syncCommitteeSource({ chain: 'mainnet', intervalMs: HOUR, members: membersOptions() });

  async function poll(previous: SyncCommittee = {}) {
    const harness = apiHarness(transport.send);
    const timed = timing({ now: NOW, intervalMs: HOUR });
    const result = await settled(harness.clock, source.poll(harness.api, previous, timed, noSignal()));
    return { ...result, log: harness.log };
  }

  it('is a GET with the key in a header, and reads 512 seats', async () => {
    http.answer('POST', PERIOD_URL, { body: JSON.stringify(periodAnswer(1700)) });
    http.answer('GET', `${V1_URL}/1700`, { body: JSON.stringify(membersAnswer(1700, SEATS)) });
    http.answer('GET', `${V1_URL}/next`, { body: JSON.stringify(NOT_KNOWN_YET) });
    const { value, failure, log } = await poll();
    expect(failure).toBeUndefined();
    expect(value.committees).toEqual([{ period: 1700, validators: [...new Set(SEATS)].sort((a, b) => a - b) }]);
    expect(value.committees?.[0]?.validators[0]).toBe(7);
    const [, current, next] = http.seen;
    expect([current?.method, current?.url, next?.url]).toEqual(['GET', `${V1_URL}/1700`, `${V1_URL}/next`]);
    expect(current?.headers).toMatchObject({ apikey: KEY, 'user-agent': 'beaconchain-exporter/1.2.3' });
    expect(current?.headers).not.toHaveProperty('authorization');
    expect(log.filter((line) => line.startsWith('requested'))).toEqual([
      'requested sync_committee',
      'requested sync_committee_members',
      'requested sync_committee_members',
    ]);
    expect(log.filter((line) => /^(failed|invalid)/.test(line))).toEqual([]);
  });

  it('counts seats that cannot be read', async () => {
    const previous = { period: { number: 1700, ...span() }, committees: [{ period: 1700, validators: [1] }] };
    http.answer('GET', `${V1_URL}/next`, { body: JSON.stringify(membersAnswer(1701, [7, null, 'x', {}, [], 8])) });
    const { value, log } = await poll(previous);
    expect(value.committees?.[1]).toEqual({ period: 1701, validators: [7, 8] });
    expect(log).toContain('invalid sync_committee_members 4');
  });

  it.each([
    [403, '{"error":"not in your plan"}', 'forbidden'],
    [404, '<html>not found</html>', 'not_found'],
    [405, '', 'method_not_allowed'],
  ])('takes %i for a refusal, and makes no second request', async (status, body, reason) => {
    http.answer('POST', PERIOD_URL, { body: JSON.stringify(periodAnswer(1700)) });
    http.answer('GET', `${V1_URL}/1700`, { status, body });
    const { value, failure } = await poll();
    expect(failure).toBeUndefined();
    expect(value.membersRefusal).toMatchObject({ reason, operatorAt: 0 });
    expect(value.period?.number).toBe(1700);
  });

  it('takes 400 for a failure, and makes no second request', async () => {
    http.answer('POST', PERIOD_URL, { body: JSON.stringify(periodAnswer(1700)) });
    const body = '{"status":"ERROR: could not retrieve db results","data":null}';
    http.answer('GET', `${V1_URL}/1700`, { status: 400, body });
    const { value, failure } = await poll();
    expect(failure).toMatchObject({ endpoint: 'sync_committee_members', reason: 'bad_request', status: 400 });
    expect(value.period?.number).toBe(1700);
  });

  it('takes the envelope of an error with status 200 for a failure', async () => {
    http.answer('POST', PERIOD_URL, { body: JSON.stringify(periodAnswer(1700)) });
    http.answer('GET', `${V1_URL}/1700`, { body: '{"status":"ERROR: could not retrieve db results","data":null}' });
    const { value, failure } = await poll();
    expect(failure).toMatchObject({ endpoint: 'sync_committee_members', reason: 'invalid_body', status: 200 });
    expect(value.period?.number).toBe(1700);
    expect(value.membersRefusal).toBeUndefined();
  });
});

function span() {
  const start = endOf(1699) / 1000;
  return { epoch: { start: 435_200, end: 435_455 }, timestamp: { start, end: start + 98_303 } };
}
