import { expect, it } from 'vitest';
import { NO_DOCUMENTS } from '../../src/exporter/state.ts';
import type { StateStore } from '../../src/toolkit/state/store.ts';
import { FaultWorld } from '../support/faults/fault-world.ts';
import { NOW } from '../support/time/timing.ts';

/** Requests sent in the first 100 ms, in the first second, and in two seconds. */
async function requestsAfterStart(documents: StateStore): Promise<[number, number, number]> {
  const { clock, service } = await FaultWorld.start({ documents });
  await clock.advance(100);
  const atOnce = service.requests.length;
  await clock.advance(900);
  const first = service.requests.length;
  await clock.advance(1_000);
  return [atOnce, first, service.requests.length];
}

it('the first start sends its first request at once', async () => {
  const [atOnce] = await requestsAfterStart(NO_DOCUMENTS);
  expect(atOnce).toBeGreaterThan(0);
});

it('a start after another process sends nothing in its first second, even if the ledger has no requests', async () => {
  const documents: StateStore = {
    ...NO_DOCUMENTS,
    load: async (name, schema) => (name === 'first-start' ? schema.parse({ at: NOW - 60_000 }) : undefined),
  };
  const [, first, second] = await requestsAfterStart(documents);
  expect(first).toBe(0);
  expect(second).toBeGreaterThan(0);
});
