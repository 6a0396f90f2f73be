import { describe, expect, it } from 'vitest';
import { type WritableDisk, writeWhole } from '../../src/lib/whole-file.ts';
import { type Call, type Faults, FragileDisk, type Image } from '../support/fragile-disk.ts';

const FILE = '/state/slashings.json';
const OLD = '{"version":1,"value":32}';
const NEW = `{"version":1,"value":60,"seen":"${'x'.repeat(40)}"}`;

/** What is found under the name after a start. */
function found(image: Image): string | undefined {
  return image.get('slashings.json')?.toString();
}

interface Outcome {
  /** Undefined: it was said to be written. */
  readonly error: unknown;
  /** What can be found after a crash at any moment during the write. */
  readonly during: ReadonlySet<string | undefined>;
  /** The same after the write has ended. */
  readonly afterwards: ReadonlySet<string | undefined>;
  /** Files that are there when nothing is lost. */
  readonly names: readonly string[];
  readonly calls: readonly Call[];
}

/** Replaces a document that is safe on a disk with these faults. */
async function replace(faults: Faults): Promise<Outcome> {
  const disk = new FragileDisk();
  await writeWhole(FILE, OLD, 0o600, disk);
  const during = new Set<string | undefined>();
  const calls: Call[] = [];
  disk.begin({
    ...faults,
    onCall: (call) => {
      calls.push(call);
      for (const image of disk.images()) during.add(found(image));
    },
  });
  const error = await writeWhole(FILE, NEW, 0o600, disk).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  const afterwards = new Set(disk.images().map(found));
  return { error, during, afterwards, names: [...disk.now().keys()], calls };
}

const EVERY_SIZE = [1, 2, 3, 4].map((parts) => Math.ceil(NEW.length / parts));

describe('lib/whole-file', () => {
  it.each(EVERY_SIZE)(
    'leaves the old or the new file, wherever the power goes, in writes of %i bytes',
    async (size) => {
      const { error, during, afterwards, names } = await replace({ bytesPerWrite: size });
      expect(error).toBeUndefined();
      expect([...during].toSorted()).toEqual([OLD, NEW].toSorted());
      expect([...afterwards]).toEqual([NEW]);
      expect(names).toEqual(['slashings.json']);
    },
  );

  it('fails on a disk with too little room, however much there is, and leaves the old file and nothing else', async () => {
    for (let room = 0; room < NEW.length; room += 1) {
      const { error, during, afterwards, names } = await replace({ room, bytesPerWrite: 40 });
      expect(error).toMatchObject({ code: 'ENOSPC' });
      expect([...during, ...afterwards].filter((text) => text !== OLD)).toEqual([]);
      expect(names).toEqual(['slashings.json']);
    }
    expect((await replace({ room: NEW.length })).error).toBeUndefined();
  });

  it.each(['EIO', 'ENOSPC', 'EROFS', 'EDQUOT'])(
    '%s at any call is a failure, and never leaves a part',
    async (code) => {
      const { calls } = await replace({ bytesPerWrite: 30 });
      expect(calls.map(({ what }) => what)).toEqual([
        ...['open', 'write', 'write', 'write', 'sync', 'close', 'rename', 'open dir', 'sync dir', 'close dir'],
      ]);
      for (const { index, what } of calls) {
        const fails = (call: Call) => (call.index === index ? code : undefined);
        const { error, during, afterwards, names } = await replace({ bytesPerWrite: 30, fails });
        expect(error, what).toMatchObject({ code });
        for (const text of [...during, ...afterwards]) expect([OLD, NEW], what).toContain(text);
        expect(names, what).toEqual(['slashings.json']);
        // What follows the rename: it is the new one, but a loss of power may take it back.
        if (index < calls.findIndex((call) => call.what === 'rename')) expect([...afterwards], what).toEqual([OLD]);
      }
    },
  );

  it('a disk that fails for good from any call on leaves the old or the new file', async () => {
    for (let index = 0; index < 10; index += 1) {
      const fails = (call: Call) => (call.index >= index ? 'EIO' : undefined);
      const { error, during, afterwards } = await replace({ bytesPerWrite: 30, fails });
      expect(error).toMatchObject({ code: 'EIO' });
      for (const text of [...during, ...afterwards]) expect([OLD, NEW]).toContain(text);
    }
  });

  it('a file system that cannot sync a directory is as good as it can be', async () => {
    const fails = ({ what }: Call) => (what === 'sync dir' ? 'EINVAL' : undefined);
    expect((await replace({ fails })).error).toBeUndefined();
  });

  it('a write that takes nothing is a failure, not an endless loop', async () => {
    const disk = new FragileDisk();
    const deaf: WritableDisk = {
      open: async (...args) => ({ ...(await disk.open(args[0], args[1])), write: async () => ({ bytesWritten: 0 }) }),
      rename: (...args) => disk.rename(...args),
      rm: (path) => disk.rm(path),
    };
    await expect(writeWhole(FILE, NEW, 0o600, deaf)).rejects.toThrow('no more bytes');
    expect([...disk.now().keys()]).toEqual([]);
  });
});
