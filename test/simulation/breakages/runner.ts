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

/**
 * The file of the function, and its source with the fault. @throws TypeError where src does not have the function exactly once
 */
export function broken(sources: typeof SOURCES, { name, of, wrong }: Breakage): [file: string, source: string] {
  const places = Object.entries(sources).flatMap(([file, source]) => startsOf(of, source).map((at) => ({ file, at })));
  const [place] = places;
  if (!place || places.length > 1) throw new TypeError(`${name}: src has ${of} ${places.length} times`);
  const { file, at } = place;
  const source = sources[file] ?? '';
  // The right function has another name, and the wrong one its name.
  const [, own = ''] = /([#\w]+)$/.exec(of) ?? [];
  const right = `${own}AsItIs`;
  const renamed = `${source.slice(0, at.name)}${right}${source.slice(at.name + own.length)}`;
  if (!of.includes('.'))
    return [file, `${renamed}\nexport function ${own}(...given) {\n  return (${wrong})(${right}, ...given);\n}\n`];
  const method = `${own}(...given) {\n    return (${wrong})((...own) => this.${right}(...own), ...given);\n  }\n\n  `;
  return [file, `${renamed.slice(0, at.declaration)}${method}${renamed.slice(at.declaration)}`];
}

/** Where functions of a module begin that are called so, or methods of a class. */
function startsOf(of: string, source: string): { readonly declaration: number; readonly name: number }[] {
  const [owner = '', method] = of.split('.');
  if (method === undefined) {
    return [...source.matchAll(new RegExp(`^(?:export )?(?:async )?function\\s+(?=${owner}\\s*[<(])`, 'gm'))].map(
      ({ 0: head, index }) => ({ declaration: index, name: index + head.length }),
    );
  }
  const from = source.search(new RegExp(`^(?:export )?class ${owner}\\b`, 'm'));
  if (from < 0) return [];
  // In a call the object stands before the name.
  const heads = source.slice(from).matchAll(new RegExp(`(?<=[;{}/]\\s*)(?:async\\s+)?(?=${method}\\s*[<(])`, 'g'));
  return [...heads].map(({ 0: head, index }) => ({ declaration: from + index, name: from + index + head.length }));
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
