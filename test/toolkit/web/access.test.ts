import { Agent } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { TokenBucket } from '../../../src/toolkit/web/access.ts';
import { ask } from '../../support/network/ask.ts';
import { BODY, basic, hashOf, serveGuarded } from '../../support/web/web-config.ts';

const USERS = `basic_auth_users:\n  alice: ${hashOf('wonder:land')}\n  bob: "${hashOf('ünïcode')}"\n`;
const ALICE = basic('alice', 'wonder:land');
const PATHS = ['/', '/metrics', '/-/healthy', '/-/ready', '/-/reload', '/nothing'];

describe.concurrent('web/access', () => {
  it('asks for a password on every path, by every method', async () => {
    const { port } = await serveGuarded(USERS);
    for (const path of PATHS) {
      for (const method of ['GET', 'HEAD', 'POST']) {
        const { status, headers } = await ask(port, path, { method });
        expect([path, method, status, headers['www-authenticate']]).toEqual([path, method, 401, 'Basic']);
      }
    }
    expect((await ask(port, '/-/reload', { method: 'POST', headers: ALICE })).status).toBe(200);
    expect((await ask(port, '/metrics', { headers: ALICE })).body.toString()).toBe(BODY);
  });

  it.each([
    ['the right password', ALICE, 200],
    ['a scheme in small letters', { authorization: String(ALICE['authorization']).replace('Basic', 'basic') }, 200],
    ['the wrong password', basic('alice', 'wonder'), 401],
    ['the hash for a password', basic('alice', /alice: (.*)/.exec(USERS)?.[1] ?? ''), 401],
    ['a user who is none', basic('mallory', 'wonder:land'), 401],
    ['a name that every object has', basic('constructor', ''), 401],
    ['another scheme', { authorization: 'Bearer wonder:land' }, 401],
    ['nothing at all', {}, 401],
  ])('%s, asked twice', async (_name, headers, status) => {
    const { port } = await serveGuarded(USERS);
    expect((await ask(port, '/metrics', { headers })).status).toBe(status);
    expect((await ask(port, '/metrics', { headers })).status).toBe(status);
  });

  it('sends the headers it was given on every path, before those of its own', async () => {
    const { port } = await serveGuarded(
      `http_server_config:\n  headers:\n    X-Frame-Options: deny\n    X-XSS-Protection: 1\n    Content-Security-Policy: default-src 'self'\n${USERS}`,
    );
    for (const path of PATHS) {
      for (const credentials of [ALICE, {}]) {
        const { headers } = await ask(port, path, { headers: credentials });
        expect(headers).toMatchObject({
          'x-frame-options': 'deny',
          'x-xss-protection': '1',
          'content-security-policy': "default-src 'self'",
        });
      }
    }
  });

  it('admits no more requests than the burst, from any client', async () => {
    const { port } = await serveGuarded(`rate_limit: {interval: 1h, burst: 3}\n${USERS}`);
    const statuses = [];
    for (const headers of [ALICE, {}, ALICE, ALICE, {}])
      statuses.push((await ask(port, '/metrics', { headers })).status);
    expect(statuses).toEqual([200, 401, 200, 429, 429]);
  });

  it('follows a reload from one request to the next, on a connection that stays open too', async () => {
    const { port, reload } = await serveGuarded(USERS);
    const agent = new Agent({ keepAlive: true });
    const status = async (headers = ALICE): Promise<number> => (await ask(port, '/metrics', { headers, agent })).status;
    expect(await status()).toBe(200);
    await reload(`basic_auth_users:\n  alice: ${hashOf('other')}\n`);
    expect(await status()).toBe(401);
    expect(await status(basic('alice', 'other'))).toBe(200);
    await reload(`basic_auth_users:\n  bob: ${hashOf('other')}\n`);
    expect(await status(basic('alice', 'other'))).toBe(401);
    await expect(reload('basic_auth_users: {alice: plain}')).rejects.toThrow('expected a bcrypt hash');
    expect(await status(basic('bob', 'other'))).toBe(200);
    await reload('rate_limit: {interval: 1h, burst: 1}');
    expect([await status({}), await status({})]).toEqual([200, 429]);
    agent.destroy();
  });

  it('answers a client that has logged in at once during endless guesses', async () => {
    const { port } = await serveGuarded(
      `basic_auth_users:\n  alice: ${hashOf('a')}\n  slow: $2b$20$${'a'.repeat(53)}\n`,
    );
    expect((await ask(port, '/metrics', { headers: basic('alice', 'a') })).status).toBe(200);
    const socket = connect(port, '127.0.0.1');
    socket.write(getAs('slow', 'b'));
    expect((await ask(port, '/metrics', { headers: basic('alice', 'a') })).status).toBe(200);
    socket.destroy();
  });

  it('answers 503 to a second guess on a connection whose first is not yet compared', async () => {
    const { port } = await serveGuarded(USERS);
    const socket = connect(port, '127.0.0.1').setEncoding('utf8');
    socket.write(getAs('alice', 'a') + getAs('alice', 'b', 'Connection: close\r\n'));
    const text = (await socket.toArray()).join('');
    expect(text.match(/(?<=HTTP\/1.1 )\d+/g)).toEqual(['401', '503']);
  });
});

function getAs(user: string, password: string, more = ''): string {
  return `GET / HTTP/1.1\r\nHost: a\r\nAuthorization: ${basic(user, password)['authorization']}\r\n${more}\r\n`;
}

describe('web/access: the rate limit', () => {
  it('starts full, gives back one at each interval, and never holds more than the burst', () => {
    const bucket = new TokenBucket({ intervalMs: 100, burst: 2 }, 1_000);
    const takenAt = (...times: number[]): boolean[] => times.map((now) => bucket.take(now));
    expect(takenAt(1_000, 1_000, 1_000)).toEqual([true, true, false]);
    expect(takenAt(1_099, 1_100, 1_150)).toEqual([false, true, false]);
    expect(takenAt(9_000, 9_000, 9_000)).toEqual([true, true, false]);
  });
});
