import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readWhole, type WritableDisk, type WritableFile, writeWhole } from '../../../src/toolkit/state/whole-file.ts';
import { temporaryFolder } from '../../support/files/files.ts';

const FILE = '/state/slashings.json';
const OLD = '{"version":1,"value":32}';
const NEW = `{"version":1,"value":60,"seen":"${'x'.repeat(40)}"}`;
const CALLS = ['open', 'write', 'write', 'write', 'sync', 'close', 'rename', 'open dir', 'sync dir', 'close dir'];

interface Faults {
  /** The error of this call, which then has no effect. */
  readonly fails?: (what: string, index: number) => string | undefined;
  /** The largest number of bytes that one write takes. */
  readonly bytesPerWrite?: number;
}

/** A disk with one directory and these faults. It notes the calls, and what is under the name after each. */
function faultyDisk({ fails = () => undefined, bytesPerWrite = 30 }: Faults) {
  const files = new Map<string, string>([[FILE, OLD]]);
  const calls: string[] = [];
  const seen = new Set<string | undefined>();
  const call = <T>(what: string, work: () => T): T => {
    const code = fails(what, calls.length);
    calls.push(what);
    if (code !== undefined) throw Object.assign(new Error(code), { code });
    const result = work();
    seen.add(files.get(FILE));
    return result;
  };
  const directory: WritableFile = {
    write: async () => ({ bytesWritten: 0 }),
    sync: async () => call('sync dir', () => undefined),
    close: async () => call('close dir', () => undefined),
  };
  const fileAt = (path: string): WritableFile => ({
    write: async (bytes, offset) =>
      call('write', () => {
        const taken = Buffer.from(bytes).subarray(offset, offset + bytesPerWrite);
        files.set(path, `${files.get(path)}${taken}`);
        return { bytesWritten: taken.length };
      }),
    sync: async () => call('sync', () => undefined),
    close: async () => call('close', () => undefined),
  });
  const disk: WritableDisk = {
    open: async (path, flags) => {
      if (flags === 'r') return call('open dir', () => directory);
      return call('open', () => {
        files.set(path, '');
        return fileAt(path);
      });
    },
    rename: async (from, to) =>
      call('rename', () => {
        files.set(to, files.get(from) ?? '');
        files.delete(from);
      }),
    rm: async (path) => void files.delete(path),
  };
  return { disk, files, calls, seen };
}

/** Replaces the document on a disk with these faults. */
async function replace(faults: Faults = {}) {
  const { disk, files, calls, seen } = faultyDisk(faults);
  const error = await writeWhole(FILE, [NEW.slice(0, 30), NEW.slice(30)], 0o600, disk).catch(
    (thrown: unknown) => thrown,
  );
  const names = [...files.keys()].map((path) => basename(path));
  return { error, calls, seen: [...seen], text: files.get(FILE), names };
}

describe('lib/whole-file', () => {
  it('writes every byte beside the file, syncs, renames, and syncs the name', async () => {
    const expected = { error: undefined, calls: CALLS, seen: [OLD, NEW], text: NEW, names: ['slashings.json'] };
    expect(await replace()).toEqual(expected);
  });

  it.each(['EIO', 'ENOSPC'])('%s at any call is a failure, and leaves either the old or the new file', async (code) => {
    for (const [at, what] of CALLS.entries()) {
      const { error, seen, text, names } = await replace({ fails: (_, index) => (index === at ? code : undefined) });
      expect(error, what).toMatchObject({ code });
      expect(text, what).toBe(at <= CALLS.indexOf('rename') ? OLD : NEW);
      for (const each of seen) expect([OLD, NEW], what).toContain(each);
      expect(names, what).toEqual(['slashings.json']);
    }
  });

  it('a file system that cannot sync directories is no failure', async () => {
    const { error, text } = await replace({ fails: (what) => (what === 'sync dir' ? 'EINVAL' : undefined) });
    expect([error, text]).toEqual([undefined, NEW]);
  });

  it('a write that takes nothing is a failure, not an endless loop', async () => {
    const { error, text, names } = await replace({ bytesPerWrite: 0 });
    expect(error).toMatchObject({ message: 'the disk accepts no more bytes' });
    expect([text, names]).toEqual([OLD, ['slashings.json']]);
  });
});

describe('lib/whole-file: readWhole', () => {
  it('reads a file, and refuses anything else at once', async () => {
    const folder = temporaryFolder();
    const [file, fifo, socket] = [join(folder, 'file'), join(folder, 'fifo'), join(folder, 'socket')];
    writeFileSync(file, 'text');
    execFileSync('mkfifo', [fifo]);
    const server = createServer().listen(socket);
    onTestFinished(() => void server.close());
    expect(await readWhole(file)).toBe('text');
    const codeOf = (path: string): Promise<unknown> => readWhole(path).catch(({ code }) => code);
    const codes = ['EFTYPE', 'ENXIO', 'EFTYPE', 'EISDIR'];
    expect(await Promise.all([fifo, socket, '/dev/zero', '/'].map(codeOf))).toEqual(codes);
  });
});
