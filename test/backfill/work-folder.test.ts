import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { WorkFolder } from '../../src/backfill/work-folder.ts';
import { planOf } from '../support/backfill.ts';
import { temporaryFolder } from '../support/files.ts';

const PLAN = planOf([], 1);

describe('backfill/work-folder', () => {
  it('is made with the first plan, found by the next run, and removed as a whole', async () => {
    const output = join(temporaryFolder(), 'past.om');
    {
      using folder = new WorkFolder(output);
      expect(await folder.load()).toBeUndefined();
      expect(existsSync(folder.path)).toBe(false);
      await folder.save(PLAN);
    }
    using next = new WorkFolder(output);
    expect(await next.load()).toEqual(PLAN);
    await next.remove();
    expect(existsSync(next.path)).toBe(false);
  });

  it('has an empty scratch folder, whatever was left in it', async () => {
    using folder = new WorkFolder(join(temporaryFolder(), 'past.om'));
    await folder.save(PLAN);
    writeFileSync(join(await folder.scratch(), 'left'), '');
    expect(readdirSync(await folder.scratch())).toEqual([]);
  });

  it('refuses what another version left, which that one can still resume', async () => {
    const output = join(temporaryFolder(), 'past.om');
    mkdirSync(`${output}.backfill`);
    writeFileSync(`${output}.backfill/plan.json`, '{}');
    using folder = new WorkFolder(output);
    await expect(folder.load()).rejects.toThrow('only that version can resume it');
    expect(readFileSync(`${output}.backfill/plan.json`, 'utf8')).toBe('{}');
  });

  it('says at once that a file system takes no folder', async () => {
    using folder = new WorkFolder('/proc/past.om');
    await expect(folder.save(PLAN)).rejects.toMatchObject({ syscall: 'mkdir' });
  });
});
