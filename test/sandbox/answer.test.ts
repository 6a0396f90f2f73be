import { expect, it } from 'vitest';
import { DEMO_KEY } from '../../src/sandbox/account.ts';
import { answer, type SandboxRequest } from '../../src/sandbox/answer.ts';
import type { Sandbox } from '../../src/sandbox/world.ts';
import { get, NOW, post, refusalOf, sandboxOf } from './call.ts';

const V1 = '/api/v1/epoch/latest/slots';
const V2 = '/api/v2/ethereum/sync-committee';
const LATEST = { sync_committee_period: { view: 'latest' }, chain: 'mainnet' };

const UNAUTHORIZED = { status: 401, body: { error: 'Unauthorized. Please provide a valid API key.' } };

function send(sandbox: Sandbox, request: Partial<SandboxRequest>): ReturnType<typeof answer> {
  const headers = { 'content-type': 'application/json', ...request.headers };
  return answer(sandbox, { method: 'POST', path: V2, body: JSON.stringify(LATEST), ...request, headers }, NOW);
}

it('accepts for v2 only a bearer token', () => {
  const sandbox = sandboxOf();
  expect(send(sandbox, { headers: { authorization: `Bearer ${DEMO_KEY}` } }).status).toBe(200);
  const refused: Partial<SandboxRequest>[] = [
    {},
    { headers: { authorization: DEMO_KEY } },
    { headers: { authorization: 'Bearer wrong' } },
    { headers: { apikey: DEMO_KEY } },
    { path: `${V2}?apikey=${DEMO_KEY}` },
  ];
  for (const request of refused) expect(refusalOf(send(sandboxOf(), request))).toEqual(UNAUTHORIZED);
});

it('accepts for v1 only the key in its header', () => {
  const sandbox = sandboxOf();
  const v1 = { method: 'GET', path: V1, body: '' };
  expect(send(sandbox, { ...v1, headers: { apikey: DEMO_KEY } }).status).toBe(200);
  for (const headers of [{}, { apikey: 'wrong' }, { authorization: `Bearer ${DEMO_KEY}` }]) {
    expect(refusalOf(send(sandboxOf(), { ...v1, headers }))).toEqual(UNAUTHORIZED);
  }
});

it('refuses a GET on v2 and a POST on v1', () => {
  const error = 'method not allowed: GET. all public API endpoints use POST.';
  const headers = { authorization: `Bearer ${DEMO_KEY}` };
  expect(refusalOf(send(sandboxOf(), { method: 'GET', headers }))).toEqual({ status: 405, body: { error } });
  expect(send(sandboxOf(), { path: V1, headers: { apikey: DEMO_KEY } }).status).toBe(405);
});

it('answers 404 to other paths', () => {
  const error = 'The requested resource was not found.';
  expect(refusalOf(post(sandboxOf(), '/api/v2/validators', {}))).toEqual({ status: 404, body: { error } });
  expect(refusalOf(get(sandboxOf(), '/api/v1/validators'))).toEqual({
    status: 404,
    body: { status: 'ERROR: not found', data: null },
  });
  expect(get(sandboxOf(), '/')).toMatchObject({ status: 404 });
});
