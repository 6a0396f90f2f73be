import { describe, expect, it, onTestFinished } from 'vitest';
import { NO_DOCUMENTS } from '../../src/exporter/state.ts';
import type { StateStore } from '../../src/toolkit/state/store.ts';
import { FaultWorld } from '../support/faults/fault-world.ts';
import { tooMany } from '../support/faults/faults.ts';
import { SECOND } from '../support/time/timing.ts';

const WAIT = /"until":[1-9]|"standing":"(revoked|refused)"/;

/** Holds every write of a ledger with a wait in it until it is let go. */
class SlowLedger {
  /** How many of them there were. */
  writes = 0;
  readonly documents: StateStore = {
    ...NO_DOCUMENTS,
    save: async (name, value) => {
      if (name !== 'ledger' || !WAIT.test(JSON.stringify(value))) return;
      this.writes += 1;
      await this.#released.promise;
    },
  };
  readonly #released = Promise.withResolvers<void>();

  letGo(): void {
    this.#released.resolve();
  }
}

describe('exporter/account', () => {
  it.each([
    ['a 429', tooMany({ 'ratelimit-reset': '420' })],
    ['revoked access', tooMany({ 'x-ratelimit-limit-month': '0' })],
  ])('writes %s before the log tells of it: a killed program remembers it', async (_, fault) => {
    const slow = new SlowLedger();
    const world = await FaultWorld.start({ documents: slow.documents }, ({ service }) => service.suffer(fault));
    // The exporter stops when all is written.
    onTestFinished(() => slow.letGo());
    const told = () => world.lines.filter(({ msg }) => msg === 'poll failed');
    await world.clock.advance(2 * SECOND);
    await expect.poll(() => slow.writes).toBeGreaterThan(0);
    await world.clock.advance(0);
    expect(told()).toEqual([]);
    slow.letGo();
    await expect.poll(() => world.clock.advance(0).then(told)).not.toEqual([]);
  });
});
