import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Breakage, broken } from './list.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** What a run needs. */
const PARTS = ['src', 'test/simulation', 'test/support', 'package.json', 'tsconfig.json'];

/**
 * Simulates a broken copy of the program, until the first of these seeds that fails. Returns `seed 2, name of the check`.
 * undefined: none fails.
 * @throws Error where the run has no end or no result
 */
export async function findBreakage(breakage: Breakage, seeds: number, first: number): Promise<string | undefined> {
  const copy = await mkdtemp(join(tmpdir(), 'breakage-'));
  try {
    for (const part of PARTS) await cp(join(ROOT, part), join(copy, part), { recursive: true });
    await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    const file = join(copy, 'src', breakage.file);
    await writeFile(file, broken(await readFile(file, 'utf8'), breakage));
    const options = [`--seeds=${seeds}`, `--seed=${first}`, '--jobs=1', '--until-failure'];
    const child = spawn(process.execPath, ['test/simulation/simulate.ts', ...options], {
      cwd: copy,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 3_600_000,
    });
    const ended = new Promise<number | string | null>((resolve, reject) =>
      child.on('error', reject).on('close', (status, killedBy) => resolve(status ?? killedBy)),
    );
    const [status, out, errors] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
    const [, seed, check] = /^Seed (\d+) fails: (.*)$/m.exec(out) ?? [];
    if (seed !== undefined) return `seed ${seed}, ${check}`;
    if (status !== 0) throw new Error(`${breakage.name}: ended with ${status}: ${errors.slice(-500)}`);
    return undefined;
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}
