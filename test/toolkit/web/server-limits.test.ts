import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { SERVER_LIMITS } from '../../../src/toolkit/web/server.ts';
import { ask } from '../../support/network/ask.ts';
import { makeCertificate } from '../../support/network/certificates.ts';
import { waitFor } from '../../support/programs/program.ts';
import { areMissing, OPENSSL } from '../../support/tools/tools.ts';
import { atTheEnd } from '../../support/vitest/cleanup.ts';
import { BODY, serveGuarded, tlsSection } from '../../support/web/web-config.ts';

/** More than the kernel buffers for a client who does not read. */
const LARGE = 'x'.repeat(16 * 1024 * 1024);

async function serve(limits: Partial<typeof SERVER_LIMITS> = {}, body = BODY, text = ''): Promise<number> {
  const { port } = await serveGuarded(text, body, { ...SERVER_LIMITS, connectionsCheckingInterval: 50, ...limits });
  return port;
}

/** A client who sends this and waits. `told`: all that it received until the server closed the connection. */
async function client(port: number, text: string | Buffer = '') {
  const socket = connect({ port, host: '127.0.0.1' }).on('error', () => undefined);
  atTheEnd(() => socket.destroy());
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  const told = new Promise<string>((resolve) => socket.once('close', () => resolve(Buffer.concat(chunks).toString())));
  await new Promise((resolve) => socket.once('connect', resolve));
  if (text.length > 0) socket.write(text);
  return { socket, told };
}

const GET = 'GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n';

describe.concurrent('web/server: limits', () => {
  it.each([
    ['sends nothing', ''],
    ['stops in its headers', 'GET /metrics HTTP/1.1\r\nHost: a\r\n'],
    ['is idle after an answer', GET],
  ])('disconnects a client who %s', async (_name, text) => {
    const port = await serve({ headersTimeout: 200, requestTimeout: 400, keepAliveTimeout: 200 });
    const { told } = await client(port, text);
    expect(await told).toMatch(text === GET ? /^HTTP\/1\.1 200 OK/ : /^(HTTP\/1\.1 408 Request Timeout|$)/);
  });

  it('disconnects a client who sends an endless body', async () => {
    const port = await serve({ headersTimeout: 200, requestTimeout: 400 });
    const { socket, told } = await client(port, 'POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n');
    const drip = setInterval(() => socket.write('a'), 20);
    expect(await told).toMatch(/^HTTP\/1\.1 405 Method Not Allowed/);
    clearInterval(drip);
  });

  it('refuses one header that is too large', async () => {
    const port = await serve();
    const { told } = await client(port, `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`);
    expect(await told).toMatch(/^HTTP\/1\.1 431 /);
    expect((await ask(port, '/metrics')).status).toBe(200);
  });

  it('disconnects a client who reads no answer, however many requests it sent', async () => {
    const port = await serve({ timeout: 300, maxConnections: 1 }, LARGE);
    const { socket } = await client(port);
    socket.pause();
    socket.write(GET.repeat(1_000));
    // While it is connected, no other client is served.
    await waitFor(async () => expect((await ask(port, '/-/healthy')).status).toBe(200));
    expect(socket.bytesRead).toBeLessThan(LARGE.length);
  });
});

describe('web/server: limits, for many at once', () => {
  it('accepts no more connections than the limit, and serves the open ones', async () => {
    const port = await serve({ maxConnections: 5 });
    const taken = await Promise.all(Array.from({ length: 5 }, () => client(port)));
    const sixth = await client(port, GET);
    expect(await sixth.told).toBe('');
    taken[0]?.socket.write('GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    expect(await taken[0]?.told).toMatch(/^HTTP\/1\.1 200 OK/);
    expect((await ask(port, '/metrics')).status).toBe(200);
  });
});

describe.skipIf(areMissing(OPENSSL))('web/server: limits over TLS', () => {
  it('disconnects a client who stops in its handshake', async () => {
    const port = await serve({ headersTimeout: 200 }, BODY, tlsSection(makeCertificate()));
    expect(await (await client(port, Buffer.from([22, 3, 1, 2, 0]))).told).toBe('');
  });
});
