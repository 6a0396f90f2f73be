import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { HOUR } from '../../support/timing.ts';
import { type Breakage, broken } from './breakage.ts';

/** The first seed that fails, as the simulation prints it. */
const Found = z.object({ seed: z.number(), check: z.string(), message: z.string() });
export type Found = z.infer<typeof Found>;

interface Outcome {
  /** Undefined: no seed failed. */
  readonly found: Found | undefined;
  /** Why there is no result, such as a run without an end. */
  readonly problem?: string;
}

export interface BreakageResult extends Outcome {
  readonly breakage: Breakage;
  readonly seconds: number;
}

export interface RunOptions {
  /** The tree of the program: a copy of it is broken. */
  readonly root: string;
  /** How many seeds at most. */
  readonly seeds: number;
  /** The first one. */
  readonly seed: number;
  /** Breakages at the same time; default: one for each core. */
  readonly parallel?: number;
  /** A run that takes longer is ended; default: an hour. */
  readonly timeoutMs?: number;
  readonly onResult?: (result: BreakageResult) => void;
  /** Ends all runs. */
  readonly signal?: AbortSignal;
}

/**
 * Simulates the program with each of the breakages, and without any. Returns the results in the order of the breakages.
 * @throws Error where the program fails without a breakage; the signal's reason
 */
export async function runBreakages(breakages: readonly Breakage[], options: RunOptions): Promise<BreakageResult[]> {
  const { parallel = availableParallelism(), onResult, signal } = options;
  const results: BreakageResult[] = [];
  const failed = new AbortController();
  const stop = AbortSignal.any([failed.signal, ...(signal ? [signal] : [])]);
  const jobs = [undefined, ...breakages].entries();
  async function work(): Promise<void> {
    for (const [i, breakage] of jobs) {
      const start = performance.now();
      const outcome = await simulate(breakage, options, stop);
      if (breakage) {
        const result = { breakage, ...outcome, seconds: (performance.now() - start) / 1000 };
        results[i - 1] = result;
        onResult?.(result);
      } else expectSound(outcome);
    }
  }
  const workers = Array.from({ length: parallel }, () =>
    work().catch((error: unknown) => {
      // The results of the others are of no use.
      failed.abort(error);
    }),
  );
  await Promise.all(workers);
  stop.throwIfAborted();
  return results;
}

function expectSound({ found, problem }: Outcome): void {
  if (problem !== undefined) throw new Error(`without a breakage: ${problem}`);
  if (found) throw new Error(`without a breakage, seed ${found.seed} fails at ${found.check}: ${found.message}`);
}

/** What a run needs. */
const PARTS = ['src', 'test/simulation', 'test/support', 'package.json', 'tsconfig.json'];

async function simulate(breakage: Breakage | undefined, options: RunOptions, signal: AbortSignal): Promise<Outcome> {
  const { root, seeds, seed } = options;
  const copy = await mkdtemp(join(tmpdir(), 'breakage-'));
  try {
    for (const part of PARTS) {
      if (existsSync(join(root, part))) await cp(join(root, part), join(copy, part), { recursive: true });
    }
    await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
    if (breakage) {
      const file = join(copy, 'src', breakage.file);
      await writeFile(file, broken(await readFile(file, 'utf8'), breakage));
    }
    const args = [`--seeds=${seeds}`, `--seed=${seed}`, '--until-failure', '--json'];
    return await run(copy, ['test/simulation/simulate.ts', ...args], options, signal);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

const MAX_TOLD = 500;

/** Exit status 1 means a failing seed, which the last line names; 0 means none. */
async function run(
  cwd: string,
  args: readonly string[],
  { timeoutMs = HOUR }: RunOptions,
  signal: AbortSignal,
): Promise<Outcome> {
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], signal, timeout: timeoutMs });
  const ended = new Promise<number | string | null>((resolve, reject) =>
    child.on('error', reject).on('close', (status, killedBy) => resolve(status ?? killedBy)),
  );
  const [status, out, errors] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  if (status === 0) return { found: undefined };
  const found = status === 1 ? foundIn(out.trimEnd().split('\n').at(-1) ?? '') : undefined;
  if (found) return { found };
  return { found, problem: `ended with ${status}: ${(errors || out).slice(-MAX_TOLD)}` };
}

function foundIn(line: string): Found | undefined {
  try {
    return Found.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}
