import type * as fc from 'fast-check';

/** Cases of all property tests together, by default. */
const CASES_IN_CI = 2_000;
const env = process.env;

/** The requested number of cases, in multiples of the default. */
const TIMES = Number(env['FUZZ_CASES'] ?? CASES_IN_CI) / CASES_IN_CI;

/** The number of the first case, or the path to the smallest case of a finding. */
const PATH = env['FUZZ_PATH'];

/** Options for tests with many cases, which may take ten times as long on a busy machine. */
export const PATIENT = { timeout: 300_000 * Math.max(1, TIMES) } as const;

/** Settings for a property with this many cases in CI. scripts/fuzz.ts runs more. */
export function cases<T>(inCi: number): fc.Parameters<T> {
  return { numRuns: Math.ceil(inCi * TIMES), ...(PATH ? { path: PATH } : {}) };
}
