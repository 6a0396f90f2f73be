import { expect, it } from 'vitest';
import { NO_DOCUMENTS } from '../../../src/exporter/state.ts';
import type { Metrics } from '../../support/exposition/scraped-metrics.ts';
import { ALL_STALE_AFTER, FaultWorld, INTERVAL } from '../../support/faults/fault-world.ts';
import { MINUTE } from '../../support/time/timing.ts';

const writeFailures = (metrics: Metrics): number => metrics.value('beaconchain_exporter_state_write_failures_total');
/** What is shown only once it is written. */
const polledAt = (metrics: Metrics): number =>
  metrics.value('beaconchain_source_last_attempt_timestamp_seconds', 'machines');

/** The world checks all the time that it is served, and that no counter decreases. */
it('system/faults/disk: a failed write is counted and shown, and polling recovers with the disk', async () => {
  const disk = { isFull: false };
  const save = async (): Promise<void> => {
    if (disk.isFull) throw Object.assign(new Error('ENOSPC: made up'), { code: 'ENOSPC' });
  };
  const world = await FaultWorld.start({ documents: { ...NO_DOCUMENTS, save } });
  await world.until((metrics) => metrics.isWell(), MINUTE);
  const before = await world.look();
  disk.isFull = true;
  await world.pass(INTERVAL);
  const during = await world.look();
  expect(writeFailures(during)).toBeGreaterThan(writeFailures(before));
  expect((await world.ask('/')).body.toString()).toContain('The state could not be written');
  // What cannot be written is not shown: a restart would take it back.
  expect(polledAt(during)).toBe(polledAt(before));
  await world.pass(ALL_STALE_AFTER);
  expect((await world.look()).withdrawable()).toEqual([]);
  disk.isFull = false;
  const known = world.service.requests.length;
  await world.until((metrics) => metrics.isWell() && polledAt(metrics) > polledAt(before), MINUTE);
  expect(world.service.requests.length - known).toBeLessThan(5);
});
