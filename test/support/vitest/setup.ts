import * as fc from 'fast-check';
import { afterAll } from 'vitest';
import { cleanUp } from './cleanup.ts';

// Runs before each test file, also in a process that has run another one.

// The seed is fixed, so that a new random case does not fail an unrelated change. `npm run fuzz` draws new cases.
fc.configureGlobal({ seed: Number(process.env['FUZZ_SEED'] ?? 20_260_930) });

// Prometheus and its tools spend a sixth of their time on collecting garbage otherwise.
process.env['GOGC'] ??= '400';

afterAll(cleanUp);
