import { setImmediate as settle } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { latestWriter } from '../../../src/toolkit/state/store.ts';
import { NOW } from '../../support/time/timing.ts';
import { VirtualClock } from '../../support/time/virtual-clock.ts';

/** Writes that end when the test says so, and what each wrote. */
function setUp() {
  const written: number[] = [];
  const errors: unknown[] = [];
  const pending: PromiseWithResolvers<void>[] = [];
  const state = { value: 0 };
  const clock = new VirtualClock(NOW);
  const writer = latestWriter({
    write: () => {
      written.push(state.value);
      const write = Promise.withResolvers<void>();
      pending.push(write);
      return write.promise;
    },
    onError: (error) => errors.push(error),
    clock,
    everyMs: 5_000,
  });
  return { written, errors, pending, state, writer, clock };
}

describe('state/store: the latest value', () => {
  it('writes a change at once, and later ones of the next five seconds together', async () => {
    const { written, pending, state, writer, clock } = setUp();
    for (let i = 1; i <= 5; i += 1) {
      state.value = i;
      writer.touch();
    }
    await settle();
    expect(written).toEqual([1]);
    pending[0]?.resolve();
    await clock.advance(4_999);
    expect(written).toEqual([1]);
    await clock.advance(1);
    expect(written).toEqual([1, 5]);
    pending[1]?.resolve();
    await clock.advance(60_000);
    expect(written).toEqual([1, 5]);
  });

  it('writes at once for a flush, and one write at a time', async () => {
    const { written, pending, state, writer } = setUp();
    writer.touch();
    state.value = 1;
    writer.touch();
    let isDone = false;
    const flushed = writer.flush().then(() => {
      isDone = true;
    });
    await settle();
    expect(written).toEqual([0]);
    pending[0]?.resolve();
    await settle();
    expect([written, isDone]).toEqual([[0, 1], false]);
    pending[1]?.resolve();
    await flushed;
  });

  it('reports a failure, and repeats the write after 15 seconds or at the close', async () => {
    const { written, errors, pending, state, writer, clock } = setUp();
    writer.touch();
    pending[0]?.reject(new Error('ENOSPC'));
    await settle();
    state.value = 1;
    writer.touch();
    await clock.advance(14_999);
    expect([written, errors]).toEqual([[0], [new Error('ENOSPC')]]);
    await clock.advance(1);
    expect(written).toEqual([0, 1]);
    pending[1]?.reject(new Error('EIO'));
    await settle();
    const closed = writer.close();
    await settle();
    expect(written).toEqual([0, 1, 1]);
    pending[2]?.resolve();
    await closed;
    await clock.advance(60_000);
    expect(written).toEqual([0, 1, 1]);
  });
});
