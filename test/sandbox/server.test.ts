import { expect, it, onTestFinished, vi } from 'vitest';
import { startSandbox } from '../../src/sandbox/server.ts';
import { ask } from '../support/network/ask.ts';
import { VirtualClock } from '../support/time/virtual-clock.ts';
import { NOW } from './call.ts';

it('sandbox/server refuses a page of another site: no alert, no request of the account', async () => {
  const receive = vi.fn(() => undefined);
  const server = await startSandbox({
    host: '127.0.0.1',
    port: 0,
    clock: new VirtualClock(NOW),
    receive,
  });
  onTestFinished(() => server.close());
  const headers = { origin: 'http://evil.test', apikey: 'sandbox' };
  for (const path of ['/alerts', '/api/v1/epoch/latest/slots']) {
    const { status } = await ask(Number(new URL(server.url).port), path, { method: 'POST', headers });
    expect(status).toBe(403);
  }
  expect([receive.mock.calls, server.sandbox.account.usage.size]).toEqual([[], 0]);
});
