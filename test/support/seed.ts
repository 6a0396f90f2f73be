import * as fc from 'fast-check';

// Runs before each test file. The seed is fixed, so that a new random case does not fail an unrelated change.
// `npm run fuzz` draws new cases.
fc.configureGlobal({ seed: Number(process.env['FUZZ_SEED'] ?? 20_260_930) });
