import bcrypt from 'bcryptjs';
import { afterAll, describe, expect, it } from 'vitest';
import { Bcrypt, TooBusy } from '../../../src/http/web-config/bcrypt.ts';

const HASH = bcrypt.hashSync('right', 4);
/** Takes longer than any test. */
const ENDLESS = `$2b$20$${'a'.repeat(53)}`;

describe('http/web-config/bcrypt', () => {
  const checker = new Bcrypt();
  afterAll(() => checker.close());

  it('answers each as it asked, in turn', async () => {
    const passwords = Array.from({ length: 60 }, (_, i) => (i % 3 === 0 ? 'right' : `wrong ${i}`));
    const answers = await Promise.all(passwords.map((password) => checker.matches(password, HASH)));
    expect(answers).toEqual(passwords.map((password) => password === 'right'));
  });

  it.each(['$2a$', '$2b$', '$2y$'])('reads hashes of the kind %s', async (kind) => {
    expect(await checker.matches('right', HASH.replace(/^\$2.\$/, kind))).toBe(true);
  });

  it('lets the program go on and stop in the middle of a comparison, which fails', async () => {
    const busy = new Bcrypt();
    const endless = busy.matches('any', ENDLESS);
    const second = busy.matches('right', HASH);
    let turns = 0;
    while (turns < 100) {
      await new Promise(setImmediate);
      turns += 1;
    }
    const failed = Promise.all([expect(endless).rejects.toThrow('ended'), expect(second).rejects.toThrow('ended')]);
    await busy.close();
    await failed;
    // What was ended is started again for the next.
    expect(await busy.matches('right', HASH)).toBe(true);
    await busy.close();
  });

  it('lets 64 wait and no more', async () => {
    const busy = new Bcrypt();
    const waiting = Array.from({ length: 64 }, () => busy.matches('any', ENDLESS));
    const ended = Promise.allSettled(waiting);
    await expect(busy.matches('right', HASH)).rejects.toThrow(TooBusy);
    await busy.close();
    expect(new Set((await ended).map(({ status }) => status))).toEqual(new Set(['rejected']));
  });
});
