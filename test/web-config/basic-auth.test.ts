import { describe, expect, it } from 'vitest';
import { BasicAuth } from '../../src/web-config/basic-auth.ts';
import type { Origin } from '../../src/web-config/login-queue.ts';

const [ALICE, BOB] = [`$2y$12$${'a'.repeat(53)}`, `$2b$08$${'b'.repeat(53)}`];
const USERS = new Map([
  ['alice', ALICE],
  ['bob', BOB],
]);

const CLIENT = { address: '192.0.2.1', hasFailed: false };

/** Compares as `right` says, and notes each comparison. */
function authThat(right: (password: string) => boolean) {
  const compared: { password: string; hash: string; user: string }[] = [];
  let now = 0;
  const matches = (password: string, hash: string, { user }: Origin): Promise<boolean> => {
    compared.push({ password, hash, user });
    return Promise.resolve(right(password));
  };
  const auth = new BasicAuth(matches, { monotonic: () => now });
  const wait = (ms: number): void => {
    now += ms;
  };
  return { auth, compared, wait };
}

describe('web-config/basic-auth', () => {
  it('compares a right password once, and a wrong one once a minute', async () => {
    const { auth, compared, wait } = authThat((password) => password === 'right');
    for (const password of ['right', 'right', 'wrong', 'wrong', 'right']) {
      expect(await auth.admits({ user: 'alice', password }, USERS, CLIENT)).toBe(password === 'right');
    }
    expect(compared.map(({ password }) => password)).toEqual(['right', 'wrong']);
    wait(59_999);
    expect(await auth.admits({ user: 'alice', password: 'wrong' }, USERS, CLIENT)).toBe(false);
    expect(compared).toHaveLength(2);
    wait(1);
    expect(await auth.admits({ user: 'alice', password: 'wrong' }, USERS, CLIENT)).toBe(false);
    expect(compared).toHaveLength(3);
  });

  it('admits a password at once that becomes right, though it was wrong a moment ago', async () => {
    const { auth } = authThat((password) => password === 'new');
    const before = new Map([['alice', ALICE]]);
    const refusing = authThat(() => false).auth;
    expect(await refusing.admits({ user: 'alice', password: 'new' }, before, CLIENT)).toBe(false);
    expect(await auth.admits({ user: 'alice', password: 'new' }, new Map([['alice', BOB]]), CLIENT)).toBe(true);
  });

  it('remembers a thousand failures and forgets the oldest', async () => {
    const { auth, compared } = authThat(() => false);
    const ask = (i: number) => auth.admits({ user: 'alice', password: `${i}` }, USERS, CLIENT);
    for (let i = 0; i <= 1_000; i += 1) await ask(i);
    await ask(1_000);
    expect(compared).toHaveLength(1_001);
    await ask(0);
    expect(compared).toHaveLength(1_002);
  });

  it('spends no more on a made-up name than cost 12, and queues all made-up names as one', async () => {
    const { auth, compared } = authThat(() => false);
    const dear = new Map([['alice', `$2y$18$${'a'.repeat(53)}`]]);
    for (const user of ['mallory', 'trent', 'alice']) await auth.admits({ user, password: 'any' }, dear, CLIENT);
    expect(compared.map(({ hash }) => hash.slice(0, 7))).toEqual(['$2y$12$', '$2y$12$', '$2y$18$']);
    expect(compared.map(({ user }) => user)).toEqual(['', '', 'alice']);
  });

  it('compares what several ask at the same time once', async () => {
    const { auth, compared } = authThat(() => true);
    const asked = Array.from({ length: 200 }, () => auth.admits({ user: 'alice', password: 'right' }, USERS, CLIENT));
    expect(new Set(await Promise.all(asked))).toEqual(new Set([true]));
    expect(compared).toHaveLength(1);
  });

  it('costs an unknown user what it costs one of the known, always the same, and lets nobody in by it', async () => {
    const { auth, compared } = authThat(() => true);
    const costs = new Map<string, Set<string>>();
    for (let i = 0; i < 200; i += 1) {
      const user = `user-${i % 100}`;
      expect(await auth.admits({ user, password: `any ${i}` }, USERS, CLIENT)).toBe(false);
      const { hash = '' } = compared.at(-1) ?? {};
      expect(hash).toMatch(/^\$2[yb]\$(12|08)\$[./A-Za-z0-9]{53}$/);
      costs.set(user, (costs.get(user) ?? new Set()).add(hash));
    }
    expect(compared).toHaveLength(200);
    expect([...costs.values()].every(({ size }) => size === 1)).toBe(true);
    expect(new Set([...costs.values()].flatMap((hashes) => [...hashes].map((hash) => hash.slice(0, 7)))).size).toBe(2);
  });

  it('forgets a password when the hash of its user changes', async () => {
    const { auth, compared } = authThat(() => true);
    await auth.admits({ user: 'alice', password: 'right' }, USERS, CLIENT);
    await auth.admits({ user: 'alice', password: 'right' }, new Map([['alice', BOB]]), CLIENT);
    expect(compared.map(({ hash }) => hash)).toEqual([ALICE, BOB]);
  });

  it('remembers a hundred and forgets the oldest', async () => {
    const { auth, compared } = authThat(() => true);
    const ask = (i: number) => auth.admits({ user: 'alice', password: `${i}` }, USERS, CLIENT);
    for (let i = 0; i <= 100; i += 1) await ask(i);
    await ask(100);
    expect(compared).toHaveLength(101);
    await ask(0);
    expect(compared).toHaveLength(102);
  });

  it('does not take a failed comparison for an answer', async () => {
    let fails = true;
    const matches = () => (fails ? Promise.reject(new Error('no thread')) : Promise.resolve(true));
    const auth = new BasicAuth(matches, { monotonic: () => 0 });
    await expect(auth.admits({ user: 'alice', password: 'right' }, USERS, CLIENT)).rejects.toThrow('no thread');
    fails = false;
    expect(await auth.admits({ user: 'alice', password: 'right' }, USERS, CLIENT)).toBe(true);
  });
});
