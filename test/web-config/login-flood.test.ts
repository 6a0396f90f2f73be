import { Agent } from 'node:http';
import bcrypt from 'bcryptjs';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../src/web/limits.ts';
import { ask } from '../support/ask.ts';
import { BODY, basic, serveGuarded } from '../support/web-config.ts';

/** The cost that htpasswd is told in the docs: some 60 ms a comparison. */
const COST = 10;
const USERS = ['prometheus', 'admin'].map((user) => `  ${user}: ${bcrypt.hashSync(`secret of ${user}`, COST)}\n`);
const ATTACKERS = 50;

/** Clients that try one wrong password after the other, until the first login of a known user is answered. */
async function firstLoginBeside(nameOf: (i: number) => string, isKeptAlive: boolean) {
  const { port } = await serveGuarded(`basic_auth_users:\n${USERS.join('')}`);
  let tries = 0;
  let isOver = false;
  const attack = async (): Promise<void> => {
    const agent = new Agent({ keepAlive: isKeptAlive, maxSockets: 1 });
    while (!isOver) {
      tries += 1;
      await ask(port, '/', { headers: basic(nameOf(tries), `wrong ${tries}`), agent });
    }
    agent.destroy();
  };
  const attackers = Array.from({ length: ATTACKERS }, attack);
  // Each is under way, and some have been answered: the queue is as full as it gets.
  while (tries < 1.2 * ATTACKERS) await new Promise(setImmediate);
  const patienceMs = Math.max(2_000, 40 * comparisonMs());
  const start = performance.now();
  const { status } = await ask(port, '/metrics', { headers: basic('prometheus', 'secret of prometheus') });
  const tookMs = performance.now() - start;
  isOver = true;
  await Promise.all(attackers);
  return { status, tookMs, patienceMs };
}

/** One comparison as fast as this machine is now, beside whatever else it does. */
function comparisonMs(): number {
  const start = performance.now();
  bcrypt.hashSync('a password', COST);
  return performance.now() - start;
}

describe('web-config/login-flood', () => {
  it.each([
    ['made-up names, a connection each', (i: number) => `name ${i}`, false],
    ['one made-up name, connections kept', () => 'root', true],
    ['the name of another user, a connection each', () => 'admin', false],
    ['the same name, connections kept', () => 'prometheus', true],
  ] as const)(
    'answers the first login within two seconds, or forty comparisons, beside 50 who try passwords: %s',
    async (_, nameOf, isKept) => {
      const { status, tookMs, patienceMs } = await firstLoginBeside(nameOf, isKept);
      expect(status).toBe(200);
      expect(tookMs).toBeLessThan(patienceMs);
    },
    120_000,
  );

  it('answers who has logged in once also where those who try passwords take all connections', async () => {
    const { port } = await serveGuarded(`basic_auth_users:\n${USERS.join('')}`, BODY, {
      ...LIMITS,
      maxConnections: 100,
    });
    // As Prometheus does, which keeps its connection.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const scrape = () => ask(port, '/metrics', { headers: basic('prometheus', 'secret of prometheus'), agent });
    expect((await scrape()).status).toBe(200);
    let [tries, failures, isOver] = [0, 0, false];
    const attack = async (): Promise<void> => {
      while (!isOver) {
        tries += 1;
        await ask(port, '/metrics', { headers: basic('prometheus', `wrong ${tries}`) }).catch(() => undefined);
        failures += 1;
      }
    };
    const attackers = Array.from({ length: 150 }, attack);
    while (failures < 100) await new Promise(setImmediate);
    for (let i = 0; i < 20; i += 1) expect((await scrape()).status).toBe(200);
    isOver = true;
    agent.destroy();
    await Promise.all(attackers);
  });
});
