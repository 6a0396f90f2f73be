import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RequestFailed } from '../../../src/api/errors.ts';
import type { Answer, WireRequest } from '../../../src/api/transport.ts';
import { type Exchange, publicReportOf, recorded, shapeOf } from '../../../src/commands/probe/public-report.ts';
import { writtenAnswer } from '../../support/answers/written-answer.ts';
import { leaksOf } from '../../support/log/key-forms.ts';
import { defaultConfig } from '../../support/runs/default-config.ts';
import { noSignal } from '../../support/time/timing.ts';
import { cases } from '../../support/vitest/fuzz.ts';

/** A machine and a key that look like names of fields. The service lists the machine. */
const [MACHINE, KEY] = ['homestaker', 'plainkey'];
const SETTINGS = { config: defaultConfig(), key: KEY };
const TEXTS = [
  ...[MACHINE, KEY, 'node-a', 'Node A', 'lido by <me@example.org>', 'https://user.example/path', 'eyJjdXJzb3IiOjF9'],
  ...['5235123', '32000000000123456789', '-0.0123456', `0x${'a1'.repeat(48)}`, 'b2'.repeat(20), 'validator_42123'],
  'acme-corp',
];
const NUMBERS = [7654321, 0.7654321];
const FIELDS = ['data', 'status', 'finality', 'chain', 'prefix', 'type', 'machine', 'new_field', 'window_7d', 'error'];
const REQUEST: WireRequest = {
  endpoint: 'validators',
  base: 'https://user.example/path',
  path: '/api/v2/ethereum/validators',
  method: 'POST',
  headers: { accept: 'application/json', authorization: `Bearer ${KEY}` },
};

const { object: anyAnswer } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 5 }, fc.constantFrom<unknown>(...TEXTS, ...NUMBERS), tie('list'), tie('object')),
  list: fc.array(tie('value'), { maxLength: 4 }),
  object: fc.dictionary(fc.constantFrom(...FIELDS, ...TEXTS), tie('value'), { maxKeys: 6 }),
}));

/** The report of an exchange. The client still reads the same bytes. */
async function reportOf(written: Parameters<typeof writtenAnswer>[0], request = REQUEST): Promise<string> {
  const { sent, exchanges } = await exchanged(async () => writtenAnswer(written), request);
  expect(await textOf(sent)).toBe(written.body);
  const names = { request: REQUEST, body: { data: [MACHINE, 'node-a'] } };
  return publicReportOf([...exchanges, names], SETTINGS);
}

async function exchanged(send: () => Promise<Answer>, request = REQUEST) {
  const exchanges: Exchange[] = [];
  const sent = recorded(send, (exchange) => exchanges.push(exchange))(request, noSignal());
  await sent.catch(() => undefined);
  return { sent, exchanges };
}

async function textOf(sent: Promise<Answer>): Promise<string> {
  let text = '';
  for await (const chunk of (await sent).body()) text += Buffer.from(chunk);
  return text;
}

describe('commands/probe: the public report', () => {
  it('contains no text or number of an answer, and no name that may be data', async () => {
    await fc.assert(
      fc.asyncProperty(anyAnswer, fc.constantFrom(...TEXTS), async (answer, text) => {
        const headers = { 'content-type': `application/json; of=${text}`, 'ratelimit-bucket': text, date: text };
        const request = {
          ...REQUEST,
          path: `/api/v1/slot/${NUMBERS[0]}/attesterslashings`,
          body: JSON.stringify({ machines: [text], validator: { validator_identifiers: NUMBERS } }),
        };
        const body = JSON.stringify(answer);
        const report = await reportOf({ status: 403, headers: { ...headers, 'ratelimit-user': text }, body }, request);
        for (const one of [...TEXTS, ...NUMBERS]) expect(leaksOf(String(one), { report })).toEqual([]);
      }),
      cases(300),
    );
  });

  it.each<[what: string, values: unknown[], shape: unknown]>([
    ['numbers', [1, 0.5, '-1', '1.5'], 'fraction | fraction as text | integer | whole number as text'],
    ['other values', [null, true, '', 'x'], 'empty text | null | text | true'],
    ['hexadecimal digits', [`0x${'a'.repeat(96)}`, 'B'.repeat(40)], 'hex after 0x, 96 digits | hex, 40 digits'],
    ['a state that all users share', [{ status: 'active_ongoing' }], { status: "'active_ongoing'" }],
    ['lists', [[1], [], ['a', 'b']], { 'list of 0 to 2': 'integer | text' }],
    ['records that lack a field', [{ a: 1, b: null }, { a: 2 }], { a: 'integer', 'b?': 'null' }],
    ['unlike values', [null, [1], { a: {} }], { 'one of': ['null', { 'list of 1': 'integer' }, { a: {} }] }],
    ['a map', [{ 'node-a': 1, '5235': 2, Node: 3, abc123: 4 }], { 'names that may be data': 'integer' }],
    ['an unknown field', [{ blockHash: 1, node_p2p_v4: '' }], { blockHash: 'integer', node_p2p_v4: 'empty text' }],
    ['great depth', [JSON.parse('['.repeat(50_000) + ']'.repeat(50_000))], expect.anything()],
  ])('shows the form of %s', (_, values, shape) => {
    expect(shapeOf(values, new Set())).toEqual(shape);
  });

  it('shows the limits of the account, and that an answer is not JSON', async () => {
    const known = { 'content-type': 'text/html; charset=utf-8', 'x-ratelimit-limit-month': '1000' };
    const headers = { ...known, 'ratelimit-new': '7', 'x-beaconchain-version': '26.17.2', server: 'nginx' };
    const report = await reportOf({ status: 403, headers, body: '<html>' });
    expect(JSON.parse(report.split('```json')[1]?.split('```')[0] ?? '')[0]).toEqual({
      request: 'POST /api/v2/ethereum/validators',
      accept: 'application/json',
      status: 403,
      headers: [
        'content-type: text/html',
        'ratelimit-new',
        'x-beaconchain-version: 26.17.2',
        'x-ratelimit-limit-month: 1000',
      ],
      answer: 'invalid_body (HTML, not JSON)',
    });
  });

  it.each(['before', 'in'])('shows why an answer broke off %s its body, and so does the client', async (where) => {
    const failure = new RequestFailed('validators', 'network', 'ECONNRESET');
    async function* body(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('{');
      throw failure;
    }
    const send = async () => (where === 'in' ? { ...writtenAnswer({ status: 403 }), body } : Promise.reject(failure));
    const { sent, exchanges } = await exchanged(send);
    await expect(textOf(sent)).rejects.toBe(failure);
    expect(publicReportOf(exchanges, SETTINGS)).toContain('"answer": "network (ECONNRESET)"');
  });
});
