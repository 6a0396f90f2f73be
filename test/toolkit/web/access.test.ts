import { Agent } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { namesOf } from '../../../src/toolkit/web/access.ts';
import { MAX_WAITING } from '../../../src/toolkit/web/passwords.ts';
import { ask } from '../../support/network/ask.ts';
import { BODY, basic, hashOf, serveGuarded } from '../../support/web/web-config.ts';

const USERS = `basic_auth_users:\n  alice: ${hashOf('wonder:land')}\n  bob: "${hashOf('ünïcode')}"\n`;
const ALICE = basic('alice', 'wonder:land');
const PATHS = ['/', '/docs/metrics', '/metrics', '/-/healthy', '/-/ready', '/-/reload', '/nothing'];

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
    ['an unknown user', basic('mallory', 'wonder:land'), 401],
    ['a name that every object has', basic('constructor', ''), 401],
    ['another scheme', { authorization: 'Bearer wonder:land' }, 401],
    ['no credentials', {}, 401],
  ])('%s, asked twice', async (_name, headers, status) => {
    const { port } = await serveGuarded(USERS);
    expect((await ask(port, '/metrics', { headers })).status).toBe(status);
    expect((await ask(port, '/metrics', { headers })).status).toBe(status);
  });

  it('sends the configured headers on every path, in place of its own', async () => {
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

  it('uses the users of a reload from the next request on, also on an open connection', async () => {
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
    agent.destroy();
  });

  it('answers 503 if the queue of password checks is full', async () => {
    const { port } = await serveGuarded(`basic_auth_users:\n  slow: $2b$20$${'a'.repeat(53)}\n`);
    const socket = connect(port, '127.0.0.1').setEncoding('utf8');
    const guesses = Array.from({ length: MAX_WAITING }, (_, i) => {
      const { authorization } = basic('slow', `${i}`);
      return `GET / HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n\r\n`;
    });
    // The server closes the connection at the last line, when all guesses wait.
    socket.write(`${guesses.join('')}no HTTP\r\n\r\n`);
    await socket.toArray();
    expect((await ask(port, '/metrics', { headers: basic('slow', 'one more') })).status).toBe(503);
  });
});

describe('web/access: the names of a client certificate', () => {
  it.each([
    [undefined, []],
    ['DNS:one', ['one']],
    ['DNS:one, DNS:*.two, email:a@b.c', ['one', '*.two', 'a@b.c']],
    ['IP Address:10.0.0.1, IP Address:FE80:0:0:0:0:0:0:1', ['10.0.0.1', 'fe80::1']],
    ['URI:spiffe://a/b?c=d', ['spiffe://a/b?c=d']],
    // Node quotes a name that would read like several.
    ['DNS:"good.example, DNS:evil.example"', ['good.example, DNS:evil.example']],
    ['URI:"http://a/\\u0000, DNS:evil", DNS:last', ['http://a/\u0000, DNS:evil', 'last']],
    ['othername:<unsupported>, DNS:one', ['one']],
  ])('of %s', (subjectAltName, names) => {
    expect(namesOf({ subjectAltName })).toEqual(names);
  });
});
