import { spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Breakage } from './list.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** What a run needs. */
const PARTS = ['src', 'test/simulation', 'test/support', 'package.json', 'tsconfig.json'];

/** The files of the program, and their texts. */
export const SOURCES: Readonly<Record<string, string>> = Object.fromEntries(
  globSync('src/**/*.ts', { cwd: ROOT }).map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]),
);

/** The file with the text, and its source with the fault. @throws TypeError where the text does not occur exactly once */
export function broken(sources: typeof SOURCES, { name, find, replace }: Breakage): [file: string, source: string] {
  const places = Object.entries(sources).flatMap(([file, source]) =>
    Array<string>(source.split(find).length - 1).fill(file),
  );
  if (places.length !== 1) throw new TypeError(`${name}: the text occurs ${places.length} times`);
  const [file = ''] = places;
  return [file, (sources[file] ?? '').replace(find, () => replace)];
}

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
    const [file, source] = broken(SOURCES, breakage);
    await writeFile(join(copy, file), source);
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
