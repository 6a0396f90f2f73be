import { expect, it, onTestFinished } from 'vitest';
import { NO_DOCUMENTS } from '../../src/exporter/state.ts';
import type { StateStore } from '../../src/toolkit/state/store.ts';
import { FaultWorld } from '../support/faults/fault-world.ts';
import { tooMany } from '../support/faults/faults.ts';
import { waitFor } from '../support/programs/program.ts';
import { SECOND } from '../support/time/timing.ts';

const WAIT = /"until":[1-9]|"standing":"(revoked|refused)"/;

it.each([
  ['a 429', tooMany({ 'ratelimit-reset': '420' })],
  ['revoked access', tooMany({ 'x-ratelimit-limit-month': '0' })],
])('writes %s to the ledger before the log reports it, so that a kill loses no wait', async (_, fault) => {
  const released = Promise.withResolvers<void>();
  let writes = 0;
  // Holds every write of a ledger with a wait in it.
  const save: StateStore['save'] = async (name, value) => {
    if (name !== 'ledger' || !WAIT.test(JSON.stringify(value))) return;
    writes += 1;
    await released.promise;
  };
  const world = await FaultWorld.start({ documents: { ...NO_DOCUMENTS, save } }, ({ service }) =>
    service.suffer(fault),
  );
  // The exporter stops when all is written.
  onTestFinished(() => released.resolve());
  const told = () => world.lines.filter(({ msg }) => msg === 'poll failed');
  await world.clock.advance(2 * SECOND);
  await waitFor(() => expect(writes).toBeGreaterThan(0));
  await world.clock.advance(0);
  expect(told()).toEqual([]);
  released.resolve();
  await waitFor(async () => expect(await world.clock.advance(0).then(told)).not.toEqual([]));
});

it('a start sends nothing in its first second, because another process may have used that second', async () => {
  const { clock, service } = await FaultWorld.start({});
  await clock.advance(1_000);
  expect(service.requests).toHaveLength(0);
  await clock.advance(1_000);
  expect(service.requests).not.toHaveLength(0);
});
