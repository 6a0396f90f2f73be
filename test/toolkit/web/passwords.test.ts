import bcrypt from 'bcryptjs';
import { expect, it } from 'vitest';
import { MAX_WAITING, Passwords, TooBusy } from '../../../src/toolkit/web/passwords.ts';
import { atTheEnd } from '../../support/vitest/cleanup.ts';

const HASH = bcrypt.hashSync('right', 4);
const USERS = new Map([['alice', HASH]]);
/** Takes longer than any test. */
const ENDLESS = new Map([['slow', `$2b$20$${'a'.repeat(53)}`]]);

function start(): Passwords {
  const passwords = new Passwords();
  atTheEnd(() => passwords.close());
  return passwords;
}

it('answers each of many checks at once correctly', async () => {
  const passwords = start();
  const asked = Array.from({ length: 60 }, (_, i) => (i % 3 === 0 ? 'right' : `wrong ${i}`));
  const answers = await Promise.all(asked.map((password) => passwords.admits({ user: 'alice', password }, USERS)));
  expect(answers).toEqual(asked.map((password) => password === 'right'));
});

it.each(['$2a$', '$2b$', '$2y$'])('reads hashes of the kind %s', async (kind) => {
  const users = new Map([['alice', HASH.replace(/^\$2.\$/, kind)]]);
  expect(await start().admits({ user: 'alice', password: 'right' }, users)).toBe(true);
});

it('admits a good login at once while guesses fill the queue, but not after its hash has changed', async () => {
  const passwords = start();
  const alice = { user: 'alice', password: 'right' };
  expect(await passwords.admits(alice, USERS)).toBe(true);
  const guesses = Array.from({ length: MAX_WAITING + 1 }, (_, i) =>
    passwords.admits({ user: 'slow', password: `${i}` }, ENDLESS).catch((error: unknown) => error),
  );
  expect(await guesses[MAX_WAITING]).toBeInstanceOf(TooBusy);
  expect(await passwords.admits(alice, USERS)).toBe(true);
  const changed = new Map([['alice', bcrypt.hashSync('other', 4)]]);
  await expect(passwords.admits(alice, changed)).rejects.toThrow(TooBusy);
  await passwords.close();
  // Those that waited did not get an answer.
  expect(new Set((await Promise.all(guesses.slice(0, MAX_WAITING))).map(String))).toEqual(
    new Set(['Error: the thread that compares passwords has ended']),
  );
});

it('stops in the middle of a comparison, and starts again for the next login', async () => {
  const passwords = start();
  const failed = expect(passwords.admits({ user: 'slow', password: 'any' }, ENDLESS)).rejects.toThrow('ended');
  await passwords.close();
  await failed;
  expect(await passwords.admits({ user: 'alice', password: 'right' }, USERS)).toBe(true);
});
