import { describe, expect, it } from 'vitest';
import type { Disk } from '../../src/lib/disk.ts';
import { codeOf } from '../../src/lib/error-code.ts';
import { createFile, syncDirectory, writeWhole } from '../../src/lib/whole-file.ts';
import { FragileDisk, type Image } from '../support/fragile-disk.ts';
import { NOW } from '../support/timing.ts';
import { diskOf, SimulatedDisk } from './disk.ts';
import { type DiskRarity, READ_ONLY } from './disk-faults.ts';
import type { Gate } from './gate.ts';
import { Random } from './random.ts';

const OPEN: Gate = { call: async (_name, effect) => effect() };

function simulated(): { disk: SimulatedDisk; through: Disk } {
  const disk = new SimulatedDisk(() => NOW);
  return { disk, through: diskOf(disk, OPEN) };
}

/** The result of a call, or the code of its error. */
async function outcomeOf(call: Promise<unknown>): Promise<unknown> {
  try {
    return { result: await call };
  } catch (error) {
    return codeOf(error) ?? error;
  }
}

describe('the simulated disk', () => {
  describe('after a loss of power', () => {
    type Sequence = (disk: Pick<Disk, 'rename' | 'rm'> & Pick<FragileDisk, 'open'>) => Promise<void>;

    async function writing(disk: Parameters<Sequence>[0], name: string, parts: readonly string[], syncs: boolean) {
      const file = await disk.open(`/${name}`, 'wx');
      for (const part of parts) await file.write(Buffer.from(part), 0);
      if (syncs) await file.sync();
      await file.close();
    }

    const sequences: [string, Sequence][] = [
      ['a file that is not synced', (disk) => writing(disk, 'a', ['12', '34'], false)],
      [
        'a file whose directory is not synced',
        async (disk) => {
          await writing(disk, 'a', ['12', '34'], true);
        },
      ],
      [
        'a file that is replaced before its writes are synced',
        async (disk) => {
          await writing(disk, 'a', ['12'], true);
          await syncDirectory('/', disk);
          await writing(disk, 'b', ['34'], false);
          await disk.rename('/b', '/a');
        },
      ],
      [
        'a file that is moved twice and made anew',
        async (disk) => {
          await writing(disk, 'a', ['1'], true);
          await syncDirectory('/', disk);
          await disk.rename('/a', '/b');
          await disk.rename('/b', '/c');
          await writing(disk, 'a', ['2'], false);
        },
      ],
      [
        'a file that is removed',
        async (disk) => {
          await writing(disk, 'a', ['1'], true);
          await syncDirectory('/', disk);
          await disk.rm('/a', { force: true });
        },
      ],
      ['a document that is replaced', (disk) => writeWhole('/a', 'new', 0o600, disk)],
    ];

    function textOf(image: Image): string {
      return JSON.stringify([...image].map(([name, bytes]) => [name, bytes.toString()]).toSorted());
    }

    /** What POSIX allows. */
    async function allowed(sequence: Sequence, bytesPerWrite: number): Promise<Set<string>> {
      const disk = new FragileDisk();
      disk.begin({ bytesPerWrite });
      const open: FragileDisk['open'] = async (path, flags) => {
        const file = await disk.open(path, flags);
        return { ...file, write: async (bytes) => ({ bytesWritten: await all(bytes, (part) => file.write(part, 0)) }) };
      };
      await sequence({ open, rename: (...args) => disk.rename(...args), rm: (path) => disk.rm(path) });
      return new Set(disk.images().map(textOf));
    }

    async function all(bytes: Uint8Array, write: (part: Uint8Array) => Promise<{ bytesWritten: number }>) {
      let done = 0;
      while (done < bytes.length) done += (await write(bytes.subarray(done))).bytesWritten;
      return done;
    }

    it.each(sequences)('%s: leaves all that POSIX allows, and nothing else', async (title, sequence) => {
      const found = new Set<string>();
      for (let seed = 0; seed < 2_000; seed += 1) {
        const { disk, through } = simulated();
        await sequence({ ...through, open: (path, flags) => through.open(path, flags) });
        disk.loseWhatIsNotSynced(new Random(seed, title));
        const left = textOf(disk.filesIn('/'));
        found.add(left);
        disk.loseWhatIsNotSynced(new Random(seed, 'again'));
        expect(textOf(disk.filesIn('/'))).toBe(left);
      }
      const ofWholeWrites = await allowed(sequence, Number.POSITIVE_INFINITY);
      const ofBytes = await allowed(sequence, 1);
      expect([...ofWholeWrites].filter((image) => !found.has(image))).toEqual([]);
      expect([...found].filter((image) => !ofBytes.has(image))).toEqual([]);
    });

    it('a directory whose parent is not synced may be gone with all that is in it', async () => {
      const found: unknown[] = [];
      for (let seed = 0; seed < 20; seed += 1) {
        const { disk, through } = simulated();
        await through.mkdir('/state', 0o700);
        await writeWhole('/state/a', 'new', 0o600, through);
        disk.loseWhatIsNotSynced(new Random(seed, 'directory'));
        found.push(await outcomeOf(through.readFile('/state/a', 'utf8')));
      }
      expect(found).toContain('ENOENT');
      expect(found).toContainEqual({ result: 'new' });
      expect(new Set(found.map((one) => JSON.stringify(one))).size).toBe(2);
    });

    it('a write that a failed sync has given up is lost even if a later sync succeeds', async () => {
      const { disk, through } = simulated();
      const file = await through.open('/a', 'wx');
      await file.write(Buffer.from('1234'), 0);
      const failure = { code: 'EIO', calls: ['sync'] } as const;
      disk.failing.add(failure);
      await expect(file.sync()).rejects.toMatchObject({ code: 'EIO' });
      disk.failing.delete(failure);
      await file.sync();
      await syncDirectory('/', through);
      expect(await through.readFile('/a', 'utf8')).toBe('1234');
      disk.loseWhatIsNotSynced(losing());
      expect(await through.readFile('/a', 'utf8')).not.toBe('1234');
    });

    it('a disk that lies about sync has the old state', async () => {
      const { disk, through } = simulated();
      await writeWhole('/a', 'old', 0o600, through);
      disk.liesAboutSync = true;
      await writeWhole('/a', 'new', 0o600, through);
      expect(await through.readFile('/a', 'utf8')).toBe('new');
      disk.loseWhatIsNotSynced(losing());
      expect(await through.readFile('/a', 'utf8')).toBe('old');
    });

    it('a disk that lies for months keeps no history', async () => {
      const { disk, through } = simulated();
      disk.liesAboutSync = true;
      for (let i = 0; i < 300; i += 1) await writeWhole('/a', String(i), 0o600, through);
      disk.loseWhatIsNotSynced(losing());
      const [, ...others] = disk.filesIn('/').keys();
      expect(others.length).toBeLessThan(2);
    });
  });

  describe('with a fault', () => {
    it('a full disk takes a part, then nothing, and works again when there is room', async () => {
      const { disk, through } = simulated();
      const rare: DiskRarity[] = [];
      disk.onRare = (what) => rare.push(what);
      disk.room = 10;
      await writeWhole('/a', '123456', 0o600, through);
      expect(disk.room).toBe(4);
      await expect(writeWhole('/a', '654321', 0o600, through)).rejects.toMatchObject({ code: 'ENOSPC' });
      expect(rare).toEqual(['a write took a part', 'the disk was full']);
      expect([...disk.filesIn('/').keys()]).toEqual(['a']);
      expect(disk.room).toBe(4);
      disk.room += 2;
      await writeWhole('/a', '654321', 0o600, through);
      expect(disk.room).toBe(6);
      disk.put('/b', '1234');
      disk.remove('/a');
      expect(disk.room).toBe(8);
      disk.loseWhatIsNotSynced(losing());
      expect([disk.room, ...disk.filesIn('/').keys()]).toEqual([2, 'a', 'b']);
    });

    it('short writes are written to the end', async () => {
      const { disk, through } = simulated();
      disk.bytesPerWrite = 3;
      await writeWhole('/a', '1234567', 0o600, through);
      expect(await through.readFile('/a', 'utf8')).toBe('1234567');
    });

    it('the chosen calls fail, each of them or one in so many', async () => {
      const { disk, through } = simulated();
      disk.failing.add({ code: 'EMFILE', calls: ['create', 'open'], each: 3 });
      const outcomes = await Promise.all(
        [1, 2, 3, 4, 5, 6].map(async (i) => outcomeOf(createFile(`/${i}`, '', 0o600, through))),
      );
      expect(outcomes.map((outcome) => outcome === 'EMFILE')).toEqual([false, false, true, false, false, true]);
    });

    it('a read-only file system still finds what is there', async () => {
      const { disk, through } = simulated();
      disk.put('/a', 'old');
      disk.failing.add(READ_ONLY);
      expect(await outcomeOf(through.open('/a', 'wx'))).toBe('EEXIST');
      expect(await outcomeOf(through.open('/b', 'wx'))).toBe('EROFS');
      expect(await outcomeOf(through.rm('/a', { force: true }))).toBe('EROFS');
      expect(await outcomeOf(through.rm('/b', { force: true }))).toEqual({ result: undefined });
      expect(await through.readFile('/a', 'utf8')).toBe('old');
    });
  });
});

/** Choices that lose everything that can be lost. */
function losing(): Random {
  for (let seed = 0; ; seed += 1) {
    const random = new Random(seed, 'losing');
    if (new Random(seed, 'losing').pick([0, 0.2, 0.5, 0.8, 1]) === 0) return random;
  }
}
