import { describe, expect, it } from 'vitest';
import { latestWriter } from '../../../src/toolkit/state/store.ts';
import { NOW } from '../../support/time/timing.ts';
import { VirtualClock } from '../../support/time/virtual-clock.ts';

/** Writes that take until they are let go, and what each wrote. */
function setUp() {
  const written: number[] = [];
  const errors: unknown[] = [];
  const pending: PromiseWithResolvers<void>[] = [];
  const state = { value: 0 };
  const writer = latestWriter(
    () => {
      written.push(state.value);
      const write = Promise.withResolvers<void>();
      pending.push(write);
      return write.promise;
    },
    (error) => errors.push(error),
    new VirtualClock(NOW),
  );
  return { written, errors, pending, state, writer };
}

/** Lets every promise job run. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe('state/store: the latest value', () => {
  it('writes one at a time, and what changed meanwhile once, as it is then', async () => {
    const { written, pending, state, writer } = setUp();
    for (let i = 1; i <= 5; i += 1) {
      state.value = i;
      writer.touch();
    }
    await settle();
    expect(written).toEqual([1]);
    pending[0]?.resolve();
    await settle();
    expect(written).toEqual([1, 5]);
    pending[1]?.resolve();
    await settle();
    expect(written).toEqual([1, 5]);
  });

  it('tells of a failure and goes on', async () => {
    const { written, errors, pending, state, writer } = setUp();
    writer.touch();
    state.value = 1;
    writer.touch();
    pending[0]?.reject(new Error('ENOSPC'));
    await settle();
    expect(errors).toEqual([new Error('ENOSPC')]);
    expect(written).toEqual([0, 1]);
    pending[1]?.reject(new Error('EIO'));
    await writer.flush();
    expect(errors).toHaveLength(2);
  });
});
