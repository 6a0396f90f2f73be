import { afterEach, describe, expect, it } from 'vitest';
import { type RunningSandbox, startSandbox } from '../../src/sandbox/server.ts';
import { ask } from '../support/network/ask.ts';
import { VirtualClock } from '../support/time/virtual-clock.ts';
import { NOW } from './call.ts';

const running: RunningSandbox[] = [];

async function start(port = 0): Promise<RunningSandbox> {
  const server = await startSandbox({ host: '127.0.0.1', port, clock: new VirtualClock(NOW), plan: 'scale' });
  running.push(server);
  return server;
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

describe('sandbox/server', () => {
  it('serves the sandbox at the time of its clock', async () => {
    const { url } = await start();
    const response = await fetch(`${url}/hoodi/api/v1/epoch/latest/slots`, { headers: { apikey: 'sandbox' } });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-ratelimit-limit-second')).toBe('5');
    expect(await response.json()).toMatchObject({ status: 'OK', data: expect.any(Array) });
  });

  it('refuses a page of another site: no alert, no request of the account', async () => {
    const received: string[] = [];
    const server = await startSandbox({
      host: '127.0.0.1',
      port: 0,
      clock: new VirtualClock(NOW),
      receive: ({ path }) => {
        received.push(path);
        return undefined;
      },
    });
    running.push(server);
    const headers = { origin: 'http://evil.test', apikey: 'sandbox' };
    for (const path of ['/alerts', '/api/v1/epoch/latest/slots']) {
      const { status } = await ask(Number(new URL(server.url).port), path, { method: 'POST', headers });
      expect(status).toBe(403);
    }
    expect([received, server.sandbox.account.inMonth]).toEqual([[], 0]);
  });
});
