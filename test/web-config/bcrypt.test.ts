import bcrypt from 'bcryptjs';
import { afterAll, describe, expect, it } from 'vitest';
import { Bcrypt, TooBusy } from '../../src/web-config/bcrypt.ts';
import type { Origin } from '../../src/web-config/login-queue.ts';

const HASH = bcrypt.hashSync('right', 4);
/** Takes longer than any test. */
const ENDLESS = `$2b$20$${'a'.repeat(53)}`;

/** Everybody is another user. */
let users = 0;
function someone(): Origin {
  users += 1;
  return { address: '192.0.2.1', user: `user ${users}`, hasFailed: false };
}

describe('web-config/bcrypt', () => {
  const checker = new Bcrypt();
  afterAll(() => checker.close());

  it('answers each as it asked, in turn', async () => {
    const passwords = Array.from({ length: 60 }, (_, i) => (i % 3 === 0 ? 'right' : `wrong ${i}`));
    const answers = await Promise.all(passwords.map((password) => checker.matches(password, HASH, someone())));
    expect(answers).toEqual(passwords.map((password) => password === 'right'));
  });

  it.each(['$2a$', '$2b$', '$2y$'])('reads hashes of the kind %s', async (kind) => {
    expect(await checker.matches('right', HASH.replace(/^\$2.\$/, kind), someone())).toBe(true);
  });

  it('lets the program go on and stop in the middle of a comparison, which fails', async () => {
    const busy = new Bcrypt();
    const endless = busy.matches('any', ENDLESS, someone());
    const second = busy.matches('right', HASH, someone());
    let turns = 0;
    while (turns < 100) {
      await new Promise(setImmediate);
      turns += 1;
    }
    const failed = Promise.all([expect(endless).rejects.toThrow('ended'), expect(second).rejects.toThrow('ended')]);
    await busy.close();
    await failed;
    // What was ended is started again for the next.
    expect(await busy.matches('right', HASH, someone())).toBe(true);
    await busy.close();
  });

  it('lets 64 wait behind the one that is compared, and no more', async () => {
    const busy = new Bcrypt();
    const ended = Promise.allSettled(Array.from({ length: 66 }, () => busy.matches('any', ENDLESS, someone())));
    await busy.close();
    const reasons = (await ended).map((result) => (result.status === 'rejected' ? result.reason : undefined));
    expect(reasons.filter((reason) => reason instanceof TooBusy)).toHaveLength(1);
    expect(reasons.filter((reason) => String(reason).includes('ended'))).toHaveLength(65);
  });
});
