import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Breakage, broken } from './breakage.ts';

export interface BreakageResult {
  readonly breakage: Breakage;
  /** The first seed that fails. undefined: none did, or there is no result. */
  readonly found: { readonly seed: number; readonly check: string } | undefined;
  /** Why there is no result, such as a run without an end. */
  readonly problem?: string;
  readonly seconds: number;
}

interface RunOptions {
  /** The tree of the program: a copy of it is broken. */
  readonly root: string;
  /** How many seeds at most, from the first one on. */
  readonly seeds: number;
  readonly seed: number;
  /** Breakages at the same time. */
  readonly jobs: number;
}

/** Simulates the program with each of the breakages. Returns the results in their order. */
export async function runBreakages(
  breakages: readonly Breakage[],
  options: RunOptions,
  onResult: (result: BreakageResult) => void,
): Promise<BreakageResult[]> {
  const results: BreakageResult[] = [];
  const left = breakages.entries();
  async function work(): Promise<void> {
    for (const [i, breakage] of left) {
      const start = performance.now();
      const outcome = await simulate(breakage, options);
      const result = { breakage, ...outcome, seconds: Math.round((performance.now() - start) / 1_000) };
      results[i] = result;
      onResult(result);
    }
  }
  await Promise.all(Array.from({ length: options.jobs }, work));
  return results;
}

/** What a run needs. */
const PARTS = ['src', 'test/simulation', 'test/support', 'package.json', 'tsconfig.json'];
const TIMEOUT_MS = 3_600_000;
const MAX_TOLD = 500;

type Found = Pick<BreakageResult, 'found' | 'problem'>;

async function simulate(breakage: Breakage, { root, seeds, seed }: RunOptions): Promise<Found> {
  const copy = await mkdtemp(join(tmpdir(), 'breakage-'));
  try {
    for (const part of PARTS) await cp(join(root, part), join(copy, part), { recursive: true });
    await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
    const file = join(copy, 'src', breakage.file);
    await writeFile(file, broken(await readFile(file, 'utf8'), breakage));
    const options = [`--seeds=${seeds}`, `--seed=${seed}`, '--jobs=1', '--until-failure'];
    const child = spawn(process.execPath, ['test/simulation/simulate.ts', ...options], {
      cwd: copy,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: TIMEOUT_MS,
    });
    const ended = new Promise<number | string | null>((resolve, reject) =>
      child.on('error', reject).on('close', (status, killedBy) => resolve(status ?? killedBy)),
    );
    const [status, out, errors] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
    const [, number, check = ''] = /^Seed (\d+) fails: (.*)$/m.exec(out) ?? [];
    if (number !== undefined) return { found: { seed: Number(number), check } };
    return { found: undefined, ...(status !== 0 && { problem: `ended with ${status}: ${errors.slice(-MAX_TOLD)}` }) };
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

const MARK = '<!-- list: npm run simulate -- --breakages -->';
const END = '<!-- end of list -->';

/** The document with a list of what each check has found, and at which seed. @throws TypeError where it has no place for one */
export function withList(document: string, results: readonly BreakageResult[]): string {
  const [start, end] = [document.indexOf(MARK), document.indexOf(END)];
  if (start < 0 || end < start) throw new TypeError(`no ${MARK}`);
  const byCheck = new Map<string, string[]>();
  for (const { breakage, found } of results) {
    const check = found?.check ?? '**not found**';
    const all = byCheck.get(check) ?? [];
    byCheck.set(check, [...all, found ? `${breakage.name} (${found.seed})` : breakage.name]);
  }
  const rows = [...byCheck]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([check, names]) => `- ${check}: ${names.join(', ')}`);
  return `${document.slice(0, start)}${MARK}\n\n${rows.join('\n')}\n\n${document.slice(end)}`;
}
