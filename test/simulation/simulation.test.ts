import { describe, expect, it } from 'vitest';
import { simulateSeed, tellFailure } from './seeds.ts';

const SEEDS = Array.from({ length: 50 }, (_, i) => i + 1);

describe('simulation', () => {
  it('what must always hold, holds in the stories of 50 seeds', async () => {
    for (const seed of SEEDS) {
      const { failure } = await simulateSeed(seed, undefined);
      if (failure) expect.fail(await tellFailure(seed, undefined, failure, true));
    }
  });

  it('a seed tells the same story each time', async () => {
    expect(await simulateSeed(7, undefined)).toEqual(await simulateSeed(7, undefined));
  });
});
