import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openFileStore } from '../../../src/toolkit/state/file.ts';
import type { StateStore } from '../../../src/toolkit/state/store.ts';
import type { Metrics } from '../../support/exposition/scraped-metrics.ts';
import { FaultWorld, INTERVAL, STALE_AFTER } from '../../support/faults/fault-world.ts';
import { temporaryFolder } from '../../support/files/files.ts';
import { MINUTE, NOW } from '../../support/time/timing.ts';
import { underWay } from '../../support/time/under-way.ts';
import { VirtualClock } from '../../support/time/virtual-clock.ts';

/** A directory whose disk can be made to fail, and be mended. */
interface Disk {
  readonly dir: string;
  /** What is between the program and its files. */
  through?(documents: StateStore): StateStore;
  fail(): void;
  mend(): void;
}

/** What the program gets where the disk itself cannot be made to fail. */
function failing(how: (save: () => Promise<void>) => Promise<void>): Disk {
  let fails = false;
  return {
    dir: temporaryFolder(),
    through: (documents) => ({
      load: (name, schema) => documents.load(name, schema),
      save(...args) {
        const save = (): Promise<void> => underWay(documents.save(...args));
        return fails ? how(save) : save();
      },
    }),
    fail: () => {
      fails = true;
    },
    mend: () => {
      fails = false;
    },
  };
}

/** Writes that neither succeed nor fail, until the disk is mended. */
function hanging(): Disk {
  const waiting: (() => void)[] = [];
  const disk = failing((save) => new Promise<void>((resolve) => waiting.push(resolve)).then(save));
  const mend = (): void => {
    disk.mend();
    for (const go of waiting.splice(0)) go();
  };
  return { ...disk, mend };
}

function vanishing(): Disk {
  const dir = temporaryFolder();
  // In its place lies something that is no directory: nothing can be made there.
  const fail = (): void => {
    rmSync(dir, { recursive: true });
    writeFileSync(dir, '');
  };
  const mend = (): void => {
    rmSync(dir);
    mkdirSync(dir);
  };
  return { dir, fail, mend };
}

const MADE_UP: [string, () => Disk][] = [
  [
    'full (made up)',
    () => failing(() => Promise.reject(Object.assign(new Error('ENOSPC: made up'), { code: 'ENOSPC' }))),
  ],
  ['gone, with a file in its place', vanishing],
];

const writeFailures = (metrics: Metrics): number => metrics.value('beaconchain_exporter_state_write_failures_total');
/** What is shown only once it is written. */
const polledAt = (metrics: Metrics): number =>
  metrics.value('beaconchain_source_last_attempt_timestamp_seconds', 'machines');

async function startOn(disk: Disk): Promise<FaultWorld> {
  const files = await openFileStore(disk.dir, new VirtualClock(NOW), pino({ level: 'silent' }), { version: 1 });
  onTestFinished(() => files.close());
  const tracked: StateStore = {
    load: (name, schema) => files.load(name, schema),
    save: (...args) => underWay(files.save(...args)),
  };
  const world = await FaultWorld.start({ documents: disk.through?.(files) ?? tracked });
  await world.until((metrics) => metrics.isWell(), MINUTE);
  return world;
}

/** The world checks all the time that it is served, and that no counter decreases. */
describe('system/faults/disk', () => {
  it.each(MADE_UP)('%s: served, counted, and well again when it is mended', async (_, make) => {
    const disk = make();
    const world = await startOn(disk);
    const before = await world.look();
    disk.fail();
    await world.pass(INTERVAL);
    const during = await world.look();
    expect(writeFailures(during)).toBeGreaterThan(writeFailures(before));
    expect((await world.ask('/')).body.toString()).toContain('The state could not be written');
    // What cannot be written is not shown: a restart would take it back.
    expect(polledAt(during)).toBe(polledAt(before));
    await world.pass(STALE_AFTER);
    expect((await world.look()).withdrawable()).toEqual([]);
    disk.mend();
    const known = world.service.requests.length;
    await world.until((metrics) => metrics.isWell() && polledAt(metrics) > polledAt(before), MINUTE);
    expect(world.service.requests.length - known).toBeLessThan(5);
  });

  it('slow beyond measure: served, withdrawn on time, and well again when it is mended', async () => {
    const disk = hanging();
    const world = await startOn(disk);
    const before = await world.look();
    disk.fail();
    await world.pass(STALE_AFTER + INTERVAL);
    const during = await world.look();
    expect(polledAt(during)).toBe(polledAt(before));
    expect(during.withdrawable()).toEqual([]);
    disk.mend();
    await world.until((metrics) => metrics.isWell() && polledAt(metrics) > polledAt(before), INTERVAL);
  });
});
