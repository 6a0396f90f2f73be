import { access, constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Plan } from '../backfill/plan.ts';
import type { WorkFolder } from '../backfill/work-folder.ts';
import { BackfillRefused } from './backfill-errors.ts';
import type { BackfillOptions } from './backfill-flags.ts';

/**
 * The plan of an interrupted run; 'complete' if the earlier run finished; undefined if there was none.
 * @throws BackfillRefused if files would be overwritten, or the run cannot be resumed.
 */
export async function findEarlierRun(
  folder: WorkFolder,
  { output, resume, request }: BackfillOptions,
): Promise<Plan | 'complete' | undefined> {
  const directory = dirname(output);
  await access(directory, constants.W_OK).catch((error: NodeJS.ErrnoException) => {
    throw new BackfillRefused(`--output: the directory ${directory} cannot be written: ${error.code}`);
  });
  const plan = await folder.load().catch((error: Error) => {
    throw new BackfillRefused(`${folder.path} cannot be read (${error.message}): remove it to begin anew`);
  });
  if (!plan) {
    const isComplete = await exists(output);
    if (isComplete && !resume) throw new BackfillRefused(`${output} exists: choose another --output or remove it`);
    return isComplete ? 'complete' : undefined;
  }
  if (!resume) {
    throw new BackfillRefused(
      `an interrupted run left ${folder.path}: go on with --resume, or remove it to begin anew`,
    );
  }
  const differing = differingFlags(plan.request, request);
  if (differing.length > 0) {
    throw new BackfillRefused(
      `--resume: the interrupted run had other values of ${differing.join(', ')}; it goes on only with the same`,
    );
  }
  return plan;
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

function differingFlags(before: Readonly<Record<string, unknown>>, now: Readonly<Record<string, unknown>>): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(now)]);
  return [...names].filter((name) => JSON.stringify(before[name]) !== JSON.stringify(now[name]));
}
