import { constants } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Disk, type DiskFile, type DiskStats, realDisk } from '../../src/lib/disk.ts';
import { codeOf } from '../../src/lib/error-code.ts';
import { makeDirectory } from '../../src/state/directory.ts';
import { temporaryFolder } from '../support/files.ts';
import { NOW } from '../support/timing.ts';
import { diskOf, SimulatedDisk } from './disk.ts';
import { Random } from './random.ts';

/** The result of a call, or the code of its error. */
async function outcomeOf(call: Promise<unknown>): Promise<unknown> {
  try {
    return { result: await call };
  } catch (error) {
    return codeOf(error) ?? error;
  }
}

function told(stats: DiskStats, hasSetTime: boolean): unknown {
  const { mode, mtimeMs } = stats;
  const kind = [stats.isFile(), stats.isDirectory()];
  return { mode: mode.toString(8), kind, ...(hasSetTime && { mtimeMs }) };
}

describe('the simulated disk, compared with a real directory', () => {
  type Step = (disk: Disk, dir: string, files: DiskFile[]) => Promise<unknown>;

  function step(random: Random): Step {
    const folder = random.pick(['', '', 'one', 'one/two', 'a', 'missing']);
    const [name, other] = [random.pick(['a', 'b', 'one', 'two']), random.pick(['a', 'b', 'one', 'two'])];
    const path = (dir: string, last = name): string => join(dir, folder, last);
    const mode = random.pick([0o600, 0o644, 0o700]);
    const bytes = Buffer.from('x'.repeat(random.between(0, 9)) + String(random.between(0, 99)));
    const offset = random.between(0, bytes.length);
    const which = random.between(0, 3);
    const seconds = random.between(1, 2 ** 31) + random.between(0, 999) / 1000;
    const flags = random.pick<'r' | 'wx' | number>(['wx', 'wx', 'r', constants.O_RDONLY | constants.O_NOFOLLOW]);
    const onFile = async (files: DiskFile[], use: (file: DiskFile) => Promise<unknown>): Promise<unknown> => {
      const file = files.at(-1 - which);
      return file && use(file);
    };
    return random.pick<Step>([
      async (disk, dir, files) => void files.push(await disk.open(path(dir), flags, mode)),
      async (disk, dir, files) => void files.push(await disk.open(path(dir), flags, mode)),
      (_, __, files) => onFile(files, async (file) => (await file.write(bytes, offset)).bytesWritten),
      (_, __, files) => onFile(files, async (file) => (await file.write(bytes, 0)).bytesWritten),
      (_, __, files) =>
        onFile(files, async (file) => {
          const into = Buffer.alloc(20);
          const { bytesRead } = await file.read(into, 1, 12, offset);
          return `${bytesRead} ${into}`;
        }),
      (_, __, files) => onFile(files, (file) => file.sync()),
      (_, __, files) => onFile(files, (file) => file.close()),
      (_, __, files) => onFile(files, async (file) => told(await file.stat(), false)),
      (disk, dir) => disk.readFile(path(dir), 'utf8'),
      (disk, dir) => disk.readFile(path(dir), 'utf8'),
      (disk, dir) => disk.rename(path(dir), path(dir, other)),
      (disk, dir) => disk.rename(path(dir), path(dir, other)),
      (disk, dir) => disk.rm(path(dir), { force: true }),
      async (disk, dir) => void (await disk.mkdir(path(dir), 0o700)),
      async (disk, dir) => void (await disk.mkdir(path(dir), 0o755)),
      async (disk, dir) => (await disk.readdir(join(dir, folder))).toSorted(),
      async (disk, dir) => told(await disk.stat(path(dir)), false),
      async (disk, dir) => told(await disk.lstat(path(dir)), false),
      (disk, dir) => disk.chmod(path(dir), mode | 0o700),
      async (disk, dir) => {
        await disk.lutimes(path(dir), seconds, seconds);
        return told(await disk.stat(path(dir)), true);
      },
    ]);
  }

  it('every sequence of calls has the same results and codes', async () => {
    const seen = new Set<unknown>();
    for (let seed = 0; seed < 60; seed += 1) {
      const random = new Random(seed, 'sequence');
      const through = diskOf(new SimulatedDisk(() => NOW), { call: async (_name, effect) => effect() });
      const dir = temporaryFolder();
      await makeDirectory(dir, through);
      const [real, ours]: [DiskFile[], DiskFile[]] = [[], []];
      onTestFinished(async () => void (await Promise.all(real.map((file) => file.close()))));
      for (let i = 0; i < 120; i += 1) {
        const next = step(random);
        const expected = await outcomeOf(next(realDisk, dir, real));
        expect(await outcomeOf(next(through, dir, ours)), `seed ${seed}, call ${i}`).toEqual(expected);
        if (typeof expected === 'string') seen.add(expected);
      }
    }
    const codes = ['EEXIST', 'ENOENT', 'ENOTDIR', 'EISDIR', 'EBADF', 'ENOTEMPTY', 'ERR_FS_EISDIR'];
    expect([...seen].toSorted()).toEqual(codes.toSorted());
  });
});
