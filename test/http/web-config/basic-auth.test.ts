import { describe, expect, it } from 'vitest';
import { BasicAuth } from '../../../src/http/web-config/basic-auth.ts';

const [ALICE, BOB] = [`$2y$12$${'a'.repeat(53)}`, `$2b$08$${'b'.repeat(53)}`];
const USERS = new Map([
  ['alice', ALICE],
  ['bob', BOB],
]);

/** Compares as `right` says, and notes each comparison. */
function authThat(right: (password: string) => boolean) {
  const compared: { password: string; hash: string }[] = [];
  const auth = new BasicAuth((password, hash) => {
    compared.push({ password, hash });
    return Promise.resolve(right(password));
  });
  return { auth, compared };
}

describe('http/web-config/basic-auth', () => {
  it('compares a right password once and a wrong one each time', async () => {
    const { auth, compared } = authThat((password) => password === 'right');
    for (const password of ['right', 'right', 'wrong', 'wrong', 'right']) {
      expect(await auth.admits({ user: 'alice', password }, USERS)).toBe(password === 'right');
    }
    expect(compared.map(({ password }) => password)).toEqual(['right', 'wrong', 'wrong']);
  });

  it('compares what several ask at the same time once', async () => {
    const { auth, compared } = authThat(() => true);
    const asked = Array.from({ length: 200 }, () => auth.admits({ user: 'alice', password: 'right' }, USERS));
    expect(new Set(await Promise.all(asked))).toEqual(new Set([true]));
    expect(compared).toHaveLength(1);
  });

  it('costs an unknown user what it costs one of the known, always the same, and lets nobody in by it', async () => {
    const { auth, compared } = authThat(() => true);
    const costs = new Map<string, Set<string>>();
    for (let i = 0; i < 200; i += 1) {
      const user = `user-${i % 100}`;
      expect(await auth.admits({ user, password: 'any' }, USERS)).toBe(false);
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
    await auth.admits({ user: 'alice', password: 'right' }, USERS);
    await auth.admits({ user: 'alice', password: 'right' }, new Map([['alice', BOB]]));
    expect(compared.map(({ hash }) => hash)).toEqual([ALICE, BOB]);
  });

  it('remembers a hundred and forgets the oldest', async () => {
    const { auth, compared } = authThat(() => true);
    const ask = (i: number) => auth.admits({ user: 'alice', password: `${i}` }, USERS);
    for (let i = 0; i <= 100; i += 1) await ask(i);
    await ask(100);
    expect(compared).toHaveLength(101);
    await ask(0);
    expect(compared).toHaveLength(102);
  });

  it('does not take a failed comparison for an answer', async () => {
    let fails = true;
    const auth = new BasicAuth(() => (fails ? Promise.reject(new Error('no thread')) : Promise.resolve(true)));
    await expect(auth.admits({ user: 'alice', password: 'right' }, USERS)).rejects.toThrow('no thread');
    fails = false;
    expect(await auth.admits({ user: 'alice', password: 'right' }, USERS)).toBe(true);
  });
});
