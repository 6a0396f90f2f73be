import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { WireRequest } from '../../src/api/transport.ts';
import { OUTSIDE } from '../../src/exporter/outside.ts';
import { listen } from '../support/network/listen.ts';
import { HOUR } from '../support/time/timing.ts';

/** A request to a server that takes connections and says nothing on them. */
async function toNobody(): Promise<WireRequest> {
  const base = `https://127.0.0.1:${await listen(createServer())}`;
  return { endpoint: 'epoch_slots', base, path: '/x', method: 'GET', headers: {} };
}

describe('exporter/outside', () => {
  it('stops a request at once, also while the HTTP client is loaded', async () => {
    const request = await toNobody();
    const { send, close } = OUTSIDE.createTransport({ timeoutMs: HOUR });
    const stop = new AbortController();
    const sent = send(request, stop.signal);
    stop.abort('stopping');
    await expect(sent).rejects.toBe('stopping');
    await close();
  });
});
