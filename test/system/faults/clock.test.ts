import { expect, it } from 'vitest';
import { control } from '../../../src/sandbox/control.ts';
import type { Metrics } from '../../support/exposition/scraped-metrics.ts';
import { FaultWorld, INTERVAL } from '../../support/faults/fault-world.ts';
import { HOUR, MINUTE } from '../../support/time/timing.ts';

/** The machines that the rules call silent: ten minutes between their last record and the last sweep. */
function silent(metrics: Metrics): string[] {
  const sweptAt = metrics.value('beaconchain_source_last_success_timestamp_seconds', 'machines');
  const seen = Map.groupBy(
    metrics.of('beaconchain_machine_last_seen_timestamp_seconds'),
    ({ labels }) => labels['machine'] ?? '',
  );
  return [...seen].flatMap(([name, all]) => (sweptAt - Math.max(...all.map(({ value }) => value)) > 600 ? [name] : []));
}

it.each([
  ['right', 0],
  ['11 minutes fast', 11 * MINUTE],
  ['11 minutes slow', -11 * MINUTE],
  ['23 hours fast', 23 * HOUR],
  ['23 hours slow', -23 * HOUR],
])('system/faults: with a clock that is %s only a dead machine is silent', async (_, wrongMs) => {
  const world = await FaultWorld.start({}, ({ clock }) => {
    clock.step(wrongMs);
  });
  const silentAt = async (): Promise<string[]> => silent(await world.look());
  await world.until((metrics) => metrics.isWell(), MINUTE);
  expect(await silentAt()).toEqual([]);
  for (let i = 0; i < 4; i += 1) {
    await world.clock.advance(INTERVAL);
    expect(await silentAt()).toEqual([]);
  }
  const metrics = await world.look();
  expect(metrics.value('beaconchain_exporter_clock_offset_seconds') + wrongMs / 1000).toBeCloseTo(0, -1);
  const said = / (fast|slow)\b.*Set up NTP on the/.exec(`${(await world.ask('/')).body}`)?.[1];
  expect(said).toBe(wrongMs === 0 ? undefined : wrongMs > 0 ? 'fast' : 'slow');

  // The operator corrects the clock.
  world.clock.step(-wrongMs);
  for (let i = 0; i < 4; i += 1) {
    expect(await silentAt()).toEqual([]);
    await world.clock.advance(MINUTE);
  }
  control(world.service.sandbox, { method: 'POST', path: '/-/silence?machine=node-a' }, world.clock.now());
  await world.clock.advance(4 * INTERVAL);
  expect(await silentAt()).toEqual(['node-a']);
});
