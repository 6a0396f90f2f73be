import { Agent } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { ask } from '../support/ask.ts';
import { waitFor } from '../support/program.ts';
import { BODY, basic, hashOf, serveGuarded } from '../support/web-config.ts';

const USERS = `basic_auth_users:\n  alice: ${hashOf('wonder:land')}\n  bob: "${hashOf('ünïcode')}"\n`;
const ALICE = basic('alice', 'wonder:land');
const PATHS = ['/', '/metrics', '/-/healthy', '/-/ready', '/-/reload', '/nothing'];

describe.concurrent('web-config/access', () => {
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
    ['another user', basic('bob', 'ünïcode'), 200],
    ['a scheme in small letters', { authorization: String(ALICE['authorization']).replace('Basic', 'basic') }, 200],
    ['the wrong password', basic('alice', 'wonder'), 401],
    ['no password', basic('alice', ''), 401],
    ['the hash for a password', basic('alice', /alice: (.*)/.exec(USERS)?.[1] ?? ''), 401],
    ['the password of another', basic('bob', 'wonder:land'), 401],
    ['a user who is none', basic('mallory', 'wonder:land'), 401],
    ['a name that every object has', basic('constructor', ''), 401],
    ['nobody', basic('', ''), 401],
    ['no colon', { authorization: `Basic ${Buffer.from('alice').toString('base64')}` }, 401],
    ['something that is not base64', { authorization: 'Basic §§' }, 401],
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

  it('lets no more requests through than the burst, whoever asks', async () => {
    const { port } = await serveGuarded(`rate_limit: {interval: 1h, burst: 3}\n${USERS}`);
    const statuses = [];
    for (const headers of [ALICE, {}, ALICE, ALICE, {}])
      statuses.push((await ask(port, '/metrics', { headers })).status);
    expect(statuses).toEqual([200, 401, 200, 429, 429]);
  });

  it.each([
    ['an interval of 0 limits nothing', 'rate_limit: {interval: 0, burst: 0}', 200],
    ['a burst of 0 lets nothing through', 'rate_limit: {interval: 1s, burst: 0}', 429],
  ])('%s', async (_name, text, status) => {
    const { port } = await serveGuarded(text);
    for (let i = 0; i < 10; i += 1) expect((await ask(port, '/metrics')).status).toBe(status);
  });

  it('follows the file from one request to the next, on a connection that stays open too', async () => {
    const { port, rewrite, lines } = await serveGuarded(USERS);
    const agent = new Agent({ keepAlive: true });
    const status = async (headers = ALICE): Promise<number> => (await ask(port, '/metrics', { headers, agent })).status;
    expect(await status()).toBe(200);
    rewrite(`basic_auth_users:\n  alice: ${hashOf('other')}\n`);
    expect(await status()).toBe(401);
    expect(await status(basic('alice', 'other'))).toBe(200);
    rewrite(`basic_auth_users:\n  bob: ${hashOf('other')}\n`);
    expect(await status(basic('alice', 'other'))).toBe(401);
    rewrite('basic_auth_users: {alice: plain}');
    expect(await status()).toBe(500);
    expect(await status()).toBe(500);
    rewrite(USERS);
    expect(await status()).toBe(200);
    agent.destroy();
    expect(lines.filter(({ level }) => level === 'error')).toEqual([
      expect.objectContaining({
        msg: 'web config is invalid',
        mistakes: expect.stringMatching(/web\.yml:1: basic_auth_users\.alice: expected a bcrypt hash/),
      }),
    ]);
  });

  it('answers 500 on every path while the file is broken, and says nothing of it to the client', async () => {
    const { port, rewrite } = await serveGuarded(USERS);
    rewrite('basic_auth_user: {}');
    for (const path of PATHS) {
      const { status, body } = await ask(port, path, { headers: ALICE });
      expect([status, body.toString()]).toEqual([500, 'Internal Server Error\n']);
    }
  });

  it('keeps to what it knew where the disk does not answer', async () => {
    const { port, folder } = await serveGuarded(USERS);
    const { execFileSync } = await import('node:child_process');
    const { renameSync } = await import('node:fs');
    // To read a pipe that nobody writes to takes for ever.
    execFileSync('mkfifo', [`${folder}/pipe`]);
    renameSync(`${folder}/pipe`, `${folder}/web.yml`);
    expect((await ask(port, '/metrics', { headers: ALICE })).status).toBe(200);
    expect((await ask(port, '/metrics')).status).toBe(401);
    // Ends the reading.
    const { writeFileSync } = await import('node:fs');
    writeFileSync(`${folder}/web.yml`, USERS);
  });

  it('refuses more passwords than it can compare, without falling behind for those it knows', async () => {
    const { port } = await serveGuarded(
      `basic_auth_users:\n  alice: ${hashOf('a')}\n  slow: $2b$12$${'a'.repeat(53)}\n`,
    );
    expect((await ask(port, '/metrics', { headers: basic('alice', 'a') })).status).toBe(200);
    const socket = connect(port, '127.0.0.1');
    let answers = '';
    socket.on('data', (data) => {
      answers += data.toString();
    });
    const requests = Array.from(
      { length: 200 },
      (_, i) => `GET / HTTP/1.1\r\nHost: a\r\nAuthorization: ${basic('slow', `${i}`)['authorization']}\r\n\r\n`,
    );
    socket.write(requests.join(''));
    expect((await ask(port, '/metrics', { headers: basic('alice', 'a') })).status).toBe(200);
    await waitFor(() => expect(answers).toContain('503 Service Unavailable'));
    expect(answers).not.toContain('200 OK');
    socket.destroy();
  });
});
