import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cases, PATIENT } from '../../support/fuzz.ts';
import { life } from './drawn-life.ts';
import { mistakesOf } from './drawn-mistakes.ts';
import { live } from './drawn-run.ts';

/** Each case is some hundred requests: seconds of one core for the usual number of them. */
const TIMEOUT = { timeout: 4 * PATIENT.timeout };

describe('system/simulation: property', TIMEOUT, () => {
  it('what is told is met, what is shown is fresh or gone, what may be spent is spent, nothing is refused', async () => {
    await fc.assert(
      fc.asyncProperty(life, async (drawn) => {
        expect(mistakesOf(drawn, await live(drawn))).toEqual([]);
      }),
      cases(200),
    );
  });
});
