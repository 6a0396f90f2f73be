import { FaultWorld } from '../support/fault-world.ts';
// The first import, because it patches modules that the program uses.

import { describe, expect, it, onTestFinished } from 'vitest';
import { ConfigFile } from '../../src/config/config.ts';
import { openAccount } from '../../src/exporter/account.ts';
import { NO_DOCUMENTS } from '../../src/exporter/state.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { V1List } from '../../src/sources/slashings/schema.ts';
import type { StateStore } from '../../src/state/store.ts';
import { tooMany } from '../support/faults.ts';
import { startService } from '../support/service.ts';
import { noSignal } from '../support/timing.ts';

const WAIT = /"closedUntil":[1-9]|"standing":"(revoked|refused)"/;

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
    onTestFinished(async () => {
      slow.letGo();
      await world.stop();
    });
    const told = () => world.lines.filter(({ msg }) => msg === 'poll failed');
    await expect.poll(() => slow.writes).toBeGreaterThan(0);
    await world.clock.advance(0);
    expect(told()).toEqual([]);
    slow.letGo();
    await expect.poll(() => world.clock.advance(0).then(told)).not.toEqual([]);
  });

  it('tells a program that spends in place of the daemon when the wait is written, not before', async () => {
    const slow = new SlowLedger();
    const { url } = await startService('key', tooMany({ 'retry-after': '420' }));
    const config = ConfigFile.parse({ api: { base_url: url }, chains: { mainnet: { v1_base_url: url } } });
    const { documents } = slow;
    const account = await openAccount({
      settings: { config, key: 'key' },
      documents,
      clock: systemClock,
      onError: () => undefined,
    });
    const request = {
      endpoint: 'epoch_slots',
      priority: 'head_pass',
      chain: 'mainnet',
      path: '/api/v1/epoch/1/slots',
    } as const;
    let outcome = 'none';
    const asked = account.api.request(request, V1List, noSignal()).catch((error) => {
      outcome = error.reason;
    });
    await expect.poll(() => slow.writes).toBeGreaterThan(0);
    await new Promise((resolve) => setImmediate(resolve));
    expect(outcome).toBe('none');
    slow.letGo();
    await asked;
    expect(outcome).toBe('rate_limited');
    await account.close();
  });
});
