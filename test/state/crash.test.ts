import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Disk, type DiskFile, realDisk } from '../../src/lib/disk.ts';
import { FileStore } from '../../src/state/file.ts';
import { temporaryFolder } from '../support/files.ts';
import { type Call, FragileDisk, type Image } from '../support/fragile-disk.ts';
import { logLines } from '../support/log-lines.ts';
import { NOW } from '../support/timing.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const Counted = z.object({ slashings: z.number(), seen: z.array(z.string()) });
const counted = (slashings: number) => ({ slashings, seen: Array.from({ length: slashings }, (_, i) => `0x${i}`) });

/** Only the documents and the sync of their directory go to the fragile disk: the lock stays on the real one. */
function withDocumentsOn(disk: FragileDisk): Disk {
  const isDocument = (path: string): boolean => path.includes('.json');
  return {
    ...realDisk,
    open: async (path, flags, mode) => {
      if (flags === 'r' || (flags === 'wx' && isDocument(path))) return (await disk.open(path, flags)) as DiskFile;
      return realDisk.open(path, flags, mode);
    },
    rename: (from, to) => disk.rename(from, to),
    rm: (path, options) => (isDocument(path) ? disk.rm(path) : realDisk.rm(path, options)),
  };
}

function open(dir: string, disk?: FragileDisk) {
  const { log, lines } = logLines();
  const documents = FileStore.open(dir, new VirtualClock(NOW), log, disk && { disk: withDocumentsOn(disk) });
  return { documents, lines };
}

/** What the next process counts from, by what the crash left; nothing is lost, set aside or left over. */
async function restartOn(image: Image, folder: string): Promise<number | undefined> {
  mkdirSync(folder);
  for (const [name, bytes] of image) writeFileSync(join(folder, name), bytes);
  const { documents, lines } = open(folder);
  const opened = await documents;
  const value = await opened.load('slashings-mainnet', Counted);
  await opened.close();
  expect(lines).toEqual([]);
  expect(readdirSync(folder)).toEqual(['slashings-mainnet.json']);
  expect(value).toEqual(counted(value?.slashings ?? -1));
  return value?.slashings;
}

function distinct(images: readonly Image[]): Image[] {
  return [...new Map(images.map((image) => [JSON.stringify([...image].sort()), image])).values()];
}

describe('state/crash', () => {
  const saving = async (fails: (call: Call) => string | undefined) => {
    const disk = new FragileDisk();
    const { documents } = open(join(temporaryFolder(), 'state'), disk);
    const opened = await documents;
    await opened.save('slashings-mainnet', counted(32));
    const during: Image[] = [];
    let calls = 0;
    disk.begin({
      bytesPerWrite: 140,
      fails,
      onCall: () => {
        calls += 1;
        during.push(...disk.images());
      },
    });
    const isSaid = await opened.save('slashings-mainnet', counted(60)).then(
      () => true,
      () => false,
    );
    const afterwards = disk.images();
    await opened.close();
    return { during: distinct(during), afterwards: distinct(afterwards), isSaid, calls };
  };

  it('a start finds the old or the new document, wherever the power goes and whatever of the unsynced is lost', async () => {
    const folder = temporaryFolder();
    const { during, afterwards, isSaid } = await saving(() => undefined);
    expect(isSaid).toBe(true);
    expect(during.length).toBeGreaterThan(20);
    const found = new Set<number | undefined>();
    for (const [i, image] of during.entries()) found.add(await restartOn(image, join(folder, String(i))));
    expect(found).toEqual(new Set([32, 60]));
    for (const [i, image] of afterwards.entries()) expect(await restartOn(image, join(folder, `after-${i}`))).toBe(60);
  });

  it('and so it does where any call fails first', async () => {
    const folder = temporaryFolder();
    const { calls } = await saving(() => undefined);
    for (let index = 0; index < calls; index += 1) {
      const { during, afterwards, isSaid } = await saving((call) => (call.index === index ? 'EIO' : undefined));
      expect(isSaid).toBe(false);
      for (const [i, image] of distinct([...during, ...afterwards]).entries()) {
        expect([32, 60]).toContain(await restartOn(image, join(folder, `${index}-${i}`)));
      }
    }
  });
});
