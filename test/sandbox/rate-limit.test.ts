import { describe, expect, it } from 'vitest';
import type { SandboxAnswer } from '../../src/sandbox/answer.ts';
import { spend } from '../../src/sandbox/rate-limit.ts';
import type { Sandbox } from '../../src/sandbox/world.ts';
import { DOCUMENTED_HEADERS } from '../support/answers/documented-headers.ts';
import { DAY, get, NOW, SECOND, sandboxOf } from './call.ts';

const PATH = '/api/v1/slot/1/attesterslashings';

function call(sandbox: Sandbox, now: number): SandboxAnswer {
  return get(sandbox, PATH, now);
}

describe('sandbox/rate-limit', () => {
  it('gives the headers of the documented sample after 28 requests on a trial', () => {
    const sandbox = sandboxOf({ plan: 'free_trial' });
    spend(sandbox.account, 27, NOW - 2 * SECOND);
    const { status, headers } = call(sandbox, NOW);
    expect(status).toBe(200);
    expect(headers).toEqual({ 'content-type': 'application/json', ...DOCUMENTED_HEADERS });
  });

  it('refunds a 429 in the month, and reports the month before the second until the UTC month ends', () => {
    const sandbox = sandboxOf({ plan: { perSecond: 1, perMonth: 3 } });
    const statuses = [0, 1, 1000, 2000, 3000].map((time) => call(sandbox, NOW + time).status);
    expect(statuses).toEqual([200, 429, 200, 200, 429]);
    const end = Date.UTC(2025, 11, 1);
    const { status, headers } = call(sandbox, NOW + 3001);
    expect(status).toBe(429);
    const reset = String(Math.floor((end - NOW - 3001) / 1000));
    expect(Number(reset) * SECOND).toBeCloseTo(end - NOW, -4);
    expect(headers).toMatchObject({
      'ratelimit-limit': '3',
      'ratelimit-remaining': '0',
      'ratelimit-window': 'month',
      'ratelimit-reset': reset,
      'retry-after': reset,
      'x-ratelimit-remaining-month': '0',
    });
    expect(call(sandbox, end - 1).status).toBe(429);
    expect(call(sandbox, end).headers['x-ratelimit-remaining-month']).toBe('2');
  });

  it('answers a revoked key with 429, all five limits 0 and a reset that is none', () => {
    const sandbox = sandboxOf({ plan: 'scale' });
    sandbox.revoked = true;
    const { status, headers } = call(sandbox, NOW);
    expect(status).toBe(429);
    for (const window of ['second', 'minute', 'hour', 'day', 'month'])
      expect(headers[`x-ratelimit-limit-${window}`], window).toBe('0');
    expect(headers['retry-after']).toBe(headers['ratelimit-reset']);
    expect(Number(headers['ratelimit-reset'])).toBeGreaterThan(86_400);
    expect(call(sandbox, NOW + 30 * DAY).status).toBe(429);
    sandbox.revoked = false;
    expect(call(sandbox, NOW + 30 * DAY).status).toBe(200);
  });
});
