import { access, constants, readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Plan } from '../backfill/plan.ts';
import { isInUse } from '../backfill/store.ts';
import type { WorkFolder } from '../backfill/work-folder.ts';
import type { Config } from '../config/config.ts';
import { BackfillRefused } from './backfill-errors.ts';
import { type BackfillOptions, backfillOptions, DECIDING } from './backfill-flags.ts';
import type { Flags } from './flag-table.ts';

/**
 * The plan of an interrupted run; 'complete' if the earlier run finished; undefined if there was none.
 * @throws BackfillRefused if files would be overwritten, or the run cannot be resumed.
 */
export async function findEarlierRun(
  folder: WorkFolder,
  output: string,
  resume: boolean,
): Promise<Plan | 'complete' | undefined> {
  const directory = dirname(output);
  await access(directory, constants.W_OK).catch((error: NodeJS.ErrnoException) => {
    throw new BackfillRefused(`--output: the directory ${directory} cannot be written: ${error.code}`);
  });
  const plan = await folder.load().catch((error: Error) => {
    if (isInUse(error)) throw new BackfillRefused(`${folder.path} is in use by another backfill`);
    throw new BackfillRefused(`${folder.path} cannot be read (${error.message}): remove it to start again`);
  });
  if (!plan) {
    const [file] = await filesOf(output);
    if (resume && file === output) return 'complete';
    if (file !== undefined) throw new BackfillRefused(`${file} exists: choose another --output or remove it`);
    return undefined;
  }
  if (!resume) {
    throw new BackfillRefused(
      `an interrupted run left ${folder.path}: continue with --resume, or remove it to start again`,
    );
  }
  return plan;
}

/** The files of an earlier run, in order. */
async function filesOf(output: string): Promise<string[]> {
  const [folder, first] = [dirname(output), basename(output)];
  const isFurther = (name: string): boolean =>
    name.startsWith(`${first}.`) && /^\d+$/.test(name.slice(first.length + 1));
  const further = (await readdir(folder)).filter(isFurther).map((name) => join(folder, name));
  return [...((await exists(output)) ? [output] : []), ...further];
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** The flags of this command line that decide what is read and written. */
export function decidingFlags(flags: Flags): Flags {
  return Object.fromEntries(DECIDING.flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name]]])));
}

/**
 * Pure. The options with which an interrupted run began.
 * @throws BackfillRefused if a flag is given that would change them. UsageError
 */
export function resumedOptions(plan: Plan, given: Flags, config: Config): BackfillOptions {
  const began = plan.now * 1000;
  const flags: Flags = plan.flags;
  const options = backfillOptions(flags, config, began);
  const differing = Object.entries(decidingFlags(given)).filter(
    ([name, value]) => !isSame(options, backfillOptions({ ...flags, [name]: value }, config, began)),
  );
  const reasons = differing.map(([name, value]) => difference(name, flags[name as keyof Flags], value));
  if (!isSame(options.chains, plan.chains)) {
    reasons.push(`the chains ${plan.chains.join(' and ')}, the configuration has ${options.chains.join(' and ')}`);
  }
  if (reasons.length > 0) throw new BackfillRefused(`--resume: the interrupted run has ${reasons.join('; ')}`);
  return options;
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

type Value = Flags[keyof Flags];

function difference(name: string, before: Value, now: Value): string {
  return before === undefined ? `no --${name}` : `${typed(name, before)}, not ${typed(name, now)}`;
}

/** A flag as it is typed. */
function typed(name: string, value: Value): string {
  return [value]
    .flat()
    .map((one) => (typeof one === 'string' ? `--${name}=${one}` : `--${name}`))
    .join(' ');
}
