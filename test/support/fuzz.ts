import { appendFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect } from 'vitest';

/** Cases of all property tests together, by default. */
const CASES_IN_CI = 2_000;
const env = process.env;

/** The requested number of cases, in multiples of the default. */
const TIMES = Number(env['FUZZ_CASES'] ?? CASES_IN_CI) / CASES_IN_CI;

/** The number of the first case, or the path to the smallest case of a finding. */
const PATH = env['FUZZ_PATH'];

/** Options for tests with many cases, which may take ten times as long on a busy machine. */
export const PATIENT = { timeout: 300_000 * Math.max(1, TIMES) } as const;

/** One line of the report that `npm run fuzz` sums up. */
export interface FuzzLine {
  readonly test: string;
  readonly cases: number;
  readonly seed: number;
  readonly failed: boolean;
}

/** Settings for a property with this many cases in CI. scripts/fuzz.ts runs more. */
export function cases<T>(inCi: number): fc.Parameters<T> {
  return { numRuns: Math.ceil(inCi * TIMES), reporter: report, ...(PATH ? { path: PATH } : {}) };
}

function report<T>(details: fc.RunDetails<T>): void {
  const { numRuns, seed, failed } = details;
  const line: FuzzLine = { test: expect.getState().currentTestName ?? '', cases: numRuns, seed, failed };
  const file = env['FUZZ_REPORT'];
  if (file) appendFileSync(file, `${JSON.stringify(line)}\n`);
  if (!failed) return;
  // The message contains the seed, the path to the smallest failing case, and the case.
  throw new Error(fc.defaultReportMessage(details), {
    cause: 'errorInstance' in details ? details.errorInstance : undefined,
  });
}
