// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates are among what is replaced.
import type { Breakage } from './breakage.ts';

/** Faults of the files of the state. */
export const DISK_BREAKAGES: readonly Breakage[] = [
  {
    name: 'file not synced',
    file: 'lib/whole-file.ts',
    find: `      await writeAll(handle, Buffer.from(text));
      await handle.sync();`,
    replace: '      await writeAll(handle, Buffer.from(text));',
    why: 'After a loss of power the file has its new name, but not its bytes.',
  },
  {
    name: 'directory not synced',
    file: 'lib/whole-file.ts',
    find: `  await syncDirectory(dirname(file), disk);
`,
    replace: '',
    why: 'After a loss of power the rename is undone, and values that were shown step back.',
  },
  {
    name: 'written in place',
    file: 'lib/whole-file.ts',
    find: '  const draft = `${file}${DRAFT}${randomUUID().slice(-12)}`;',
    replace: `  const draft = file;
  await disk.rm(file, { force: true });`,
    why: 'A process that is killed during a write leaves a part of the document.',
  },
  {
    name: 'old file removed before the rename',
    file: 'lib/whole-file.ts',
    find: '() => disk.rename(draft, file)',
    replace: '() => disk.rm(file, { force: true }).then(() => disk.rename(draft, file))',
    why: 'A process that is killed between the two calls leaves no document.',
  },
  {
    name: 'short write taken for whole',
    file: 'lib/whole-file.ts',
    find: '    done += bytesWritten;',
    replace: '    done = bytes.length;',
    why: 'A disk that takes only a part of the bytes leaves a part of the document.',
  },
  {
    name: 'failed write taken for success',
    file: 'lib/whole-file.ts',
    find: `    await disk.rm(file, { force: true }).catch(() => undefined);
    throw error;`,
    replace: '    await disk.rm(file, { force: true }).catch(() => undefined);',
    why: 'A value is shown although it could not be written, and steps back after a restart.',
  },
];
