import { describe, expect, it } from 'vitest';
import { Stopper } from '../../src/lib/stop.ts';

describe('lib/stop', () => {
  it('stops what was started, last in first out, one after the other', async () => {
    const log: string[] = [];
    const stopper = new Stopper();
    for (const name of ['state', 'scheduler', 'server']) {
      stopper.add(async () => {
        log.push(`START ${name}`);
        await null;
        log.push(`END ${name}`);
      });
    }
    await stopper.stop();
    const ends = ['START server', 'END server', 'START scheduler', 'END scheduler', 'START state', 'END state'];
    expect(log).toEqual(ends);
  });

  it('goes on after an error, and throws the first at the end', async () => {
    const log: string[] = [];
    const stopper = new Stopper();
    stopper.add(() => log.push('first'));
    stopper.add(() => Promise.reject(new Error('second failure')));
    stopper.add(() => {
      throw new Error('first failure');
    });
    await expect(stopper.stop()).rejects.toThrow('first failure');
    expect(log).toEqual(['first']);
  });

  it('stops each thing once', async () => {
    let stops = 0;
    const stopper = new Stopper();
    stopper.add(() => {
      stops += 1;
    });
    await stopper.stop();
    await stopper.stop();
    expect(stops).toBe(1);
  });
});
