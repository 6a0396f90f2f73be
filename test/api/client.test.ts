import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createTransport } from '../../src/api/transport.ts';
import { noSignal } from '../support/timing.ts';
import { settled } from '../support/virtual-clock.ts';
import { apiHarness, failureOf, KEY, V1_REQUEST, V1_URL, V2_REQUEST, V2_URL } from './api-harness.ts';
import { httpMock } from './http-mock.ts';

const transport = createTransport({ timeoutMs: 10_000 });
afterAll(() => transport.close());

describe('api/client', () => {
  const http = httpMock();

  it('asks v2 by POST with JSON and the key as bearer', async () => {
    http.answer('POST', V2_URL, { body: '{"data":{"system_metrics":[1]},"unknown":1}' });
    const { api, log } = apiHarness(transport.send);
    expect(await api.request(V2_REQUEST, noSignal())).toEqual({ data: { system_metrics: [1] } });
    expect(http.seen).toEqual([
      {
        method: 'POST',
        url: V2_URL,
        headers: {
          accept: 'application/json',
          'accept-encoding': 'gzip',
          authorization: `Bearer ${KEY}`,
          connection: 'keep-alive',
          'content-length': String(Buffer.byteLength(JSON.stringify(V2_REQUEST.body))),
          'content-type': 'application/json',
          host: 'api.test',
          'user-agent': 'beaconchain-exporter/1.2.3',
        },
        body: JSON.stringify(V2_REQUEST.body),
      },
    ]);
    expect(log).toEqual(['requested machine_metrics', 'took machine_metrics 0']);
  });

  it('asks v1 by GET at the host of the chain, with the key in a header and not in the address', async () => {
    http.answer('GET', V1_URL, { body: '{"status":"OK","data":[]}' });
    const { api } = apiHarness(transport.send);
    expect(await api.request(V1_REQUEST, noSignal())).toEqual({ status: 'OK', data: [] });
    expect(http.seen).toEqual([
      {
        method: 'GET',
        url: V1_URL,
        headers: {
          accept: 'application/json',
          'accept-encoding': 'gzip',
          apikey: KEY,
          connection: 'keep-alive',
          host: 'hoodi.test',
          'user-agent': 'beaconchain-exporter/1.2.3',
        },
        body: '',
      },
    ]);
  });

  it('passes the status and the headers to the budget, under the route of the request', async () => {
    const headers = { 'ratelimit-bucket': 'default', 'x-ratelimit-limit-second': '5' };
    http.answer('GET', V1_URL, { headers, body: '{"status":"OK","data":[]}' });
    const { api, rateLimiter } = apiHarness(transport.send);
    await api.request(V1_REQUEST, noSignal());
    expect(rateLimiter.ledger.lanes).toEqual({ 'epoch_slots https://hoodi.test/prefix': 'default' });
    expect(rateLimiter.perSecond('default')).toBe(5);
  });

  it('parses records one by one: counts and drops the bad, keeps their neighbours', () => {
    const { api, log } = apiHarness(transport.send);
    const record = z.object({ slot: z.number() });
    const items = [{ slot: 1, more: true }, { slot: 'x' }, null, { slot: 2 }];
    expect(api.records('epoch_slots', record, items)).toEqual([{ slot: 1 }, { slot: 2 }]);
    expect(api.records('epoch_slots', record, [])).toEqual([]);
    expect(log).toEqual(['invalid epoch_slots 2']);
  });
});

describe('api/client: answers', () => {
  const http = httpMock();

  it.each([
    [400, 'bad_request'],
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'not_found'],
    [405, 'method_not_allowed'],
    [201, 'unexpected_status'],
    [302, 'unexpected_status'],
    [307, 'unexpected_status'],
  ])('%i is %s, asked once, whatever the body says', async (status, reason) => {
    for (const body of [`{"error":"internal error ${KEY}"}`, '{"data":{"system_metrics":[]}}', '<html>', '']) {
      http.answer('POST', V2_URL, { status, body, headers: { location: V2_URL } });
      const { api, clock, log } = apiHarness(transport.send);
      const failure = await failureOf(settled(clock, api.request(V2_REQUEST, noSignal())));
      expect(failure).toMatchObject({
        endpoint: 'machine_metrics',
        reason,
        message: `machine_metrics: ${reason} (status ${status})`,
      });
      expect(log.filter((line) => !line.startsWith('took'))).toEqual([
        'requested machine_metrics',
        `failed machine_metrics ${reason}`,
      ]);
    }
  });

  it('a 429 with every limit 0 is revoked, asked once', async () => {
    const headers = { 'x-ratelimit-limit-second': '0', 'x-ratelimit-limit-month': '0', 'retry-after': '1' };
    http.answer('POST', V2_URL, { status: 429, headers });
    const { api, clock } = apiHarness(transport.send);
    const failure = await failureOf(settled(clock, api.request(V2_REQUEST, noSignal())));
    expect(failure).toMatchObject({ reason: 'revoked' });
  });

  it.each(['', '<html><body>Bad gateway</body></html>', '{"data":{"system_metrics":[', '{}', '{"data":null}'])(
    'a 200 with the body %j is invalid_body, asked once',
    async (body) => {
      http.answer('POST', V2_URL, { body, headers: { 'content-type': 'application/json' } });
      const { api, clock } = apiHarness(transport.send);
      const failure = await failureOf(settled(clock, api.request(V2_REQUEST, noSignal())));
      expect(failure).toMatchObject({ reason: 'invalid_body' });
    },
  );

  it('a connection that fails is network, with the code alone', async () => {
    for (let i = 0; i < 3; i += 1) http.fail('POST', V2_URL, 'ECONNRESET');
    const { api, clock } = apiHarness(transport.send);
    const failure = await failureOf(settled(clock, api.request(V2_REQUEST, noSignal())));
    expect(failure.message).toBe('machine_metrics: network (ECONNRESET)');
  });

  it('no failure holds the key, the headers or an address', async () => {
    const answers = [{ status: 401 }, { status: 403 }, { body: `{"${KEY}":1}` }, { body: KEY }];
    for (const answer of answers) {
      http.answer('POST', V2_URL, { body: `{"error":"${KEY}"}`, ...answer });
      const { api, clock } = apiHarness(transport.send);
      const failure = await failureOf(settled(clock, api.request(V2_REQUEST, noSignal())));
      const everything = [failure.message, failure.stack, JSON.stringify(failure), String(failure.cause)].join();
      expect(everything).not.toContain(KEY);
      expect(everything).not.toContain('api.test');
    }
  });
});
