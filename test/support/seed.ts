import * as fc from 'fast-check';

// Before each test file. No change is blamed for a case that was not drawn before: those are for `npm run fuzz`.
fc.configureGlobal({ seed: Number(process.env['FUZZ_SEED'] ?? 20_260_930) });
