import nock from 'nock';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createTransport } from '../../src/api/transport.ts';
import { writtenAnswer } from '../support/answers/written-answer.ts';
import { noSignal } from '../support/time/timing.ts';
import { settled } from '../support/time/virtual-clock.ts';
import { apiHarness, failureOf, KEY, V1_REQUEST, V1_URL, V2_REQUEST, V2_URL } from './api-harness.ts';

// No connection is made: nock answers.
const transport = createTransport({ timeoutMs: 10_000, lookup: async () => [{ address: '127.0.0.1', family: 4 }] });
afterAll(() => transport.close());

interface MockAnswer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

const HEADERS = {
  accept: 'application/json',
  'accept-encoding': 'gzip',
  connection: 'keep-alive',
  'user-agent': 'beaconchain-exporter/1.2.3',
};

/** The requests of a test that had a mock, in order. */
const seen: unknown[] = [];
const unexpected: string[] = [];
const note = ({ method, url }: Request): void => void unexpected.push(`${method} ${url}`);

/** No network is reached, not even loopback. */
beforeEach(() => {
  nock.disableNetConnect();
  nock.emitter.on('no match', note);
});

/** Fails a test that sent a request without a mock, or left a mock unused. */
afterEach(() => {
  const unused = nock.pendingMocks();
  const outcome = { unexpected: unexpected.splice(0), unused };
  nock.emitter.off('no match', note);
  nock.abortPendingRequests();
  nock.cleanAll();
  nock.enableNetConnect();
  seen.length = 0;
  expect(outcome).toEqual({ unexpected: [], unused: [] });
});

/** Expects one more request, to exactly this URL, and answers it. */
function answer(method: 'GET' | 'POST', url: string, { status = 200, headers = {}, body = '' }: MockAnswer): void {
  const { origin, pathname, search } = new URL(url);
  nock(origin)
    .intercept(pathname + search, method)
    .reply(async (request: Request) => {
      const sent = Object.fromEntries(request.headers);
      seen.push({ method: request.method, url: request.url, headers: sent, body: await request.clone().text() });
      return [status, body, headers];
    });
}

/** The failure of a request that gets this answer. */
async function failing(given: MockAnswer) {
  answer('POST', V2_URL, given);
  const harness = apiHarness(transport.send);
  const failure = await failureOf(settled(harness.clock, harness.api.request(V2_REQUEST, noSignal())));
  return { ...harness, failure };
}

describe('api/client', () => {
  it('requests v2 by POST with JSON, and sends the key as a bearer token', async () => {
    answer('POST', V2_URL, { body: '{"data":{"system_metrics":[1]},"unknown":1}' });
    const { api, log } = apiHarness(transport.send);
    expect(await api.request(V2_REQUEST, noSignal())).toEqual({ data: { system_metrics: [1] } });
    const body = JSON.stringify(V2_REQUEST.body);
    const ofBody = { 'content-length': String(Buffer.byteLength(body)), 'content-type': 'application/json' };
    const headers = { ...HEADERS, ...ofBody, authorization: `Bearer ${KEY}`, host: 'api.test' };
    expect(seen).toEqual([{ method: 'POST', url: V2_URL, headers, body }]);
    expect(log).toEqual(['requested machine_metrics', 'took machine_metrics 0']);
  });

  it('requests v1 by GET from the host of the chain, and sends the key in a header, never in the URL', async () => {
    answer('GET', V1_URL, { body: '{"status":"OK","data":[]}' });
    const { api } = apiHarness(transport.send);
    expect(await api.request(V1_REQUEST, noSignal())).toEqual({ status: 'OK', data: [] });
    const headers = { ...HEADERS, apikey: KEY, host: 'hoodi.test' };
    expect(seen).toEqual([{ method: 'GET', url: V1_URL, headers, body: '' }]);
  });

  it('gives the status and headers to the budget, under the route of the request', async () => {
    const headers = { 'ratelimit-bucket': 'default', 'x-ratelimit-limit-second': '5' };
    answer('GET', V1_URL, { headers, body: '{"status":"OK","data":[]}' });
    const { api, rateLimiter } = apiHarness(transport.send);
    await api.request(V1_REQUEST, noSignal());
    expect(rateLimiter.settleLedger().routes).toEqual({ 'epoch_slots https://hoodi.test/prefix': 'default' });
    expect(rateLimiter.settleLedger().buckets['default']?.limits.second).toBe(5);
  });

  const date = 'Wed, 30 Sep 2026 12:00:00 GMT';
  it.each([
    ['a good answer', 200, { date }, '{"status":"OK","data":[]}', ['date 2026-09-30T12:00:00.000Z 2000']],
    ['a refusal by the service', 403, { date }, '{"error":"no"}', ['date 2026-09-30T12:00:00.000Z 2000']],
    ['a cache', 200, { date, age: '0' }, '{"status":"OK","data":[]}', []],
    ['a proxy', 403, { date }, '<html>', []],
    ['a server error', 500, { date }, '', []],
    ['an unreadable date', 200, { date: '-5' }, '{"status":"OK","data":[]}', []],
  ])('takes the time of the service from its own uncached answers: %s', async (_, status, headers, body, expected) => {
    const { api, clock, log } = apiHarness(async () => {
      await clock.sleep(2_000);
      return writtenAnswer({ status, headers, body });
    });
    const asked = api.request(V1_REQUEST, noSignal()).catch(() => undefined);
    await settled(clock, asked);
    expect(log.filter((line) => line.startsWith('date '))).toEqual(expected);
  });

  it('drops and counts bad records, and keeps their neighbours', () => {
    const { api, log } = apiHarness(transport.send);
    const record = z.object({ slot: z.number() });
    const items = [{ slot: 1, more: true }, { slot: 'x' }, null, { slot: 2 }];
    expect(api.records('epoch_slots', record, items)).toEqual([{ slot: 1 }, { slot: 2 }]);
    expect(api.records('epoch_slots', record, [])).toEqual([]);
    expect(log).toEqual(['invalid epoch_slots 2']);
  });
});

describe('api/client: answers', () => {
  it.each([
    [400, 'bad_request'],
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'not_found'],
    [405, 'method_not_allowed'],
    [410, 'not_found'],
    [201, 'unexpected_status'],
    [302, 'unexpected_status'],
    [307, 'unexpected_status'],
  ])('reports %i as %s without a retry, whatever the body says', async (status, reason) => {
    const own: MockAnswer[] = [
      { body: `{"error":"internal error ${KEY}"}` },
      { body: '{"status":"ERROR: invalid","data":null}' },
      { body: '{"data":{"system_metrics":[]}}', headers: { 'ratelimit-bucket': 'default' } },
      { body: '<html>', headers: { 'x-beaconchain-version': '26.17.2' } },
      { body: '', headers: { 'x-ratelimit-limit-second': '1' } },
    ];
    for (const { body = '', headers } of own) {
      const { failure, log } = await failing({ status, body, headers: { location: V2_URL, ...headers } });
      const message = `machine_metrics: ${reason} (status ${status})`;
      expect(failure).toMatchObject({ endpoint: 'machine_metrics', reason, message });
      const told = ['requested machine_metrics', `failed machine_metrics ${reason}`];
      expect(log.filter((line) => !line.startsWith('took'))).toEqual(told);
    }
  });

  describe('from a proxy in front of the service', () => {
    const challenge = { 'content-type': 'text/html; charset=UTF-8', 'cf-mitigated': 'challenge' };
    const page = '<!DOCTYPE html><title>Just a moment...</title>';

    it.each<[number, MockAnswer, string]>([
      [403, { headers: challenge, body: page }, 'text/html'],
      [401, { headers: challenge, body: page }, 'text/html'],
      [404, { headers: { 'content-type': 'text/plain' }, body: '404 page not found' }, 'text/plain'],
      [405, { body: '' }, 'no content type'],
      [429, { headers: { 'content-type': 'application/json' }, body: '{"message":"slow down"}' }, 'application/json'],
      [502, { headers: { 'content-type': 'text/html' }, body: page }, 'text/html'],
      [400, { headers: { 'content-type': 'text/html' }, body: `{"error":"${'x'.repeat(20_000)}"}` }, 'text/html'],
    ])(
      'a %i is unexpected_status, with its content type, and changes nothing in the ledger',
      async (status, answer, type) => {
        const { failure, opensAt, rateLimiter } = await failing({ status, ...answer });
        const said = `status ${status}, ${type}, not from the service`;
        expect(failure.message).toBe(`machine_metrics: unexpected_status (${said})`);
        expect(rateLimiter.settleLedger().key.standing).toBe('unknown');
        expect(opensAt()).toBe(0);
      },
    );

    it.each([
      ['90', 90_000],
      ['3600', 3_600_000],
      ['3601', 0],
      ['soon', 0],
    ])('retry-after %s makes the failure ask for a wait of %i ms', async (seconds, waitMs) => {
      const headers = { ...challenge, 'retry-after': seconds };
      expect((await failing({ status: 429, headers, body: page })).failure).toMatchObject({ waitMs });
    });
  });

  it('a 429 with every limit 0 is revoked, without a retry', async () => {
    const headers = { 'x-ratelimit-limit-second': '0', 'x-ratelimit-limit-month': '0', 'retry-after': '1' };
    expect((await failing({ status: 429, headers })).failure).toMatchObject({ reason: 'revoked' });
  });

  it('no failure contains the key, a header or an address', async () => {
    const answers = [{ status: 401 }, { status: 403 }, { body: `{"${KEY}":1}` }, { body: KEY }];
    for (const answer of answers) {
      const { failure } = await failing({ body: `{"error":"${KEY}"}`, ...answer });
      const everything = [failure.message, failure.stack, JSON.stringify(failure), String(failure.cause)].join();
      expect(everything).not.toContain(KEY);
      expect(everything).not.toContain('api.test');
    }
  });
});
