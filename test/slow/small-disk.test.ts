import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { FamilySpool } from '../../src/backfill/family-spool.ts';
import { isStoreFailure, Store } from '../../src/backfill/store.ts';
import type { History } from '../../src/sources/history.ts';
import { FileStore } from '../../src/state/file.ts';
import type { StateStore } from '../../src/state/store.ts';
import { planOf } from '../support/backfill.ts';
import { isKeptCounter, seriesOf } from '../support/exposition-text.ts';
import { FaultWorld, INTERVAL } from '../support/fault-world.ts';
import { temporaryFolder } from '../support/files.ts';
import { logLines } from '../support/log-lines.ts';
import { cannotMount, smallDisk } from '../support/small-disk.ts';
import { MINUTE, NOW } from '../support/timing.ts';
import { underWay } from '../support/under-way.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

/** Records that are texts. */
const TEXTS = { group: () => '', at: () => 0 } as unknown as History;
const SILENT = pino({ level: 'silent' });
const BLOCK = 4_096;
const Value = z.object({ round: z.number(), text: z.string() });

/** What a process that starts now reads. */
async function restarted(dir: string): Promise<z.output<typeof Value> | undefined> {
  const { log, lines } = logLines();
  const documents = await FileStore.open(dir, new VirtualClock(NOW), log);
  const value = await documents.load('slashings-mainnet', Value);
  await documents.close();
  expect(lines).toEqual([]);
  return value;
}

/** The store as a process finds it that starts after a crash. */
function reopened(folder: string): Promise<Store> {
  const copy = join(temporaryFolder(), 'past.om.backfill');
  cpSync(folder, copy, { recursive: true });
  return Store.open(copy);
}

function recordsIn(store: Store): unknown[] {
  return [...store.sorted('machines', { from: 0, to: 1 })];
}

/** The exporter with its state on this disk, until `end`. */
async function startOn(dir: string) {
  const { log, lines } = logLines();
  const files = await FileStore.open(dir, new VirtualClock(NOW), log);
  const documents: StateStore = {
    load: (name, schema) => files.load(name, schema),
    save: (...args) => underWay(files.save(...args)),
  };
  const world = await FaultWorld.start({ documents });
  const end = async (): Promise<void> => {
    await world.stop();
    await files.close();
  };
  return { world, lines, end };
}

/** What is shown of what must never step back, by series. */
async function countersOf(world: FaultWorld): Promise<Map<string, number>> {
  const text = (await world.ask('/metrics')).body.toString();
  return new Map(
    seriesOf(text)
      .filter(({ name }) => isKeptCounter(name))
      .map(({ name, labels, value }) => [JSON.stringify([name, labels]), value]),
  );
}

describe.skipIf(cannotMount())('slow/small-disk', () => {
  it('a document is whole or was not written, whatever is left of the disk', async () => {
    const disk = smallDisk(64);
    let last = { round: 0, text: 'x'.repeat(5 * BLOCK) };
    const outcomes = { written: 0, refused: 0 };
    for (const free of [0, 1, 2, 3, 4, 5, 6, 7, 8]) {
      for (const length of [10, BLOCK - 60, BLOCK, 2 * BLOCK, 3 * BLOCK + 17, 5 * BLOCK]) {
        disk.leave(32);
        const documents = await FileStore.open(disk.dir, new VirtualClock(NOW), SILENT);
        await documents.save('slashings-mainnet', last);
        disk.leave(free);
        const next = { round: last.round + 1, text: 'y'.repeat(length) };
        const isWritten = await documents.save('slashings-mainnet', next).then(
          () => true,
          (error: unknown) => {
            expect(error).toMatchObject({ code: 'ENOSPC' });
            return false;
          },
        );
        outcomes[isWritten ? 'written' : 'refused'] += 1;
        if (isWritten) last = next;
        // Nothing is left over that takes the place of what is to be written next.
        const names = readdirSync(disk.dir).filter((name) => name !== 'filler');
        expect(names.toSorted()).toEqual(['lock', 'lock.holder', 'slashings-mainnet.json']);
        await documents.close();
        disk.leave(16);
        expect(await restarted(disk.dir), `${free} free blocks, ${length} bytes`).toEqual(last);
      }
    }
    expect(outcomes.written).toBeGreaterThan(10);
    expect(outcomes.refused).toBeGreaterThan(10);
  });

  it('a start on a full disk has the lock and reads what is there; only who holds it is not said', async () => {
    const disk = smallDisk(64);
    const first = await FileStore.open(disk.dir, new VirtualClock(NOW), SILENT);
    await first.save('slashings-mainnet', { round: 1, text: 'x' });
    await first.close();
    disk.leave(0);
    const second = await FileStore.open(disk.dir, new VirtualClock(NOW), SILENT);
    expect(await second.load('slashings-mainnet', Value)).toEqual({ round: 1, text: 'x' });
    await second.close();
  });

  it.each([0, 1, 2, 3, 4, 6, 8])('with %i free blocks no more is shown than the next start reads', async (free) => {
    const disk = smallDisk(256);
    const first = await startOn(disk.dir);
    await first.world.until((metrics) => metrics.isWell(), MINUTE);
    disk.leave(free);
    await first.world.pass(3 * INTERVAL);
    const before = await countersOf(first.world);
    await first.end();
    disk.leave(64);
    const second = await startOn(disk.dir);
    const after = await countersOf(second.world);
    await second.end();
    expect(second.lines).toEqual([]);
    expect(before.size).toBeGreaterThan(10);
    const stepsBack = [...before].filter(([series, value]) => !((after.get(series) ?? 0) >= value));
    expect(stepsBack).toEqual([]);
  });

  it('the plan of a backfill is whole or was not written', async () => {
    const disk = smallDisk(64);
    const folder = join(disk.dir, 'past.om.backfill');
    using store = await Store.open(folder);
    const ranges = (count: number) => Array.from({ length: count }, (_, start) => ({ start, end: start + 1 }));
    const plan = (count: number) => planOf(ranges(count), NOW / 1000);
    store.save(plan(200));
    for (const free of [0, 1, 2, 3]) {
      disk.leave(free);
      expect(() => store.save(plan(400))).toThrow(expect.toSatisfy(isStoreFailure));
      expect(store.plan()).toEqual(plan(200));
      using next = await reopened(folder);
      expect(next.plan()).toEqual(plan(200));
    }
    disk.leave(32);
    store.save(plan(400));
    using next = await reopened(folder);
    expect(next.plan()).toEqual(plan(400));
  });

  it('a page of a backfill is kept whole or read again', async () => {
    const disk = smallDisk(128);
    const folder = join(disk.dir, 'past.om.backfill');
    using store = await Store.open(folder);
    const slice = { id: 0, source: 'machines', range: { start: 0, end: 1 }, expected: 1 };
    const page = (next: string, length: number) => ({ next, left: 1, bad: 0, records: ['x'.repeat(length), 'x'] });
    for (const [i, free] of [0, 1, 2, 3].entries()) {
      disk.leave(64);
      store.keep(slice, TEXTS, page(`kept-${i}`, BLOCK));
      disk.leave(free);
      expect(() => store.keep(slice, TEXTS, page('lost', 5 * BLOCK))).toThrow(/disk is full|I\/O/);
      using next = await reopened(folder);
      for (const seen of [store, next]) {
        expect(seen.cursorOf(slice)).toBe(`kept-${i}`);
        expect(recordsIn(seen)).toHaveLength(2 * (i + 1));
      }
    }
  });

  it('a file of a backfill is whole or is a failure', async () => {
    const disk = smallDisk(64);
    const head = { name: 'beaconchain_machines', type: 'gauge', help: 'Machines.' } as const;
    const samples = Array.from({ length: 1_000 }, (_, i) => ({ labels: { machine: `machine-${i}` }, value: i, at: i }));
    for (const free of [0, 1, 5, 20]) {
      const spool = new FamilySpool(temporaryFolder());
      spool.add(head, samples);
      const file = join(disk.dir, 'part');
      disk.leave(free);
      const bytes = await spool.writeTo(file).catch((error: unknown) => error);
      if (free < 20) expect(bytes).toMatchObject({ code: 'ENOSPC' });
      else expect(readFileSync(file, 'utf8')).toMatch(/\n# EOF\n$/);
      rmSync(file);
    }
  });
});
