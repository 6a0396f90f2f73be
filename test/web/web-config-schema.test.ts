import { describe, expect, it } from 'vitest';
import { parseGoDuration } from '../../src/web/web-config-schema.ts';

describe('web/web-config-schema: durations', () => {
  it.each([
    ['0', 0],
    ['1s', 1_000],
    ['0s', 0],
    ['1.5s', 1_500],
    ['.5s', 500],
    ['1.s', 1_000],
    ['100ms', 100],
    ['250us', 0.25],
    ['1h2m3s', 3_723_000],
  ])('%s', (text, ms) => {
    expect(parseGoDuration(text)).toBeCloseTo(ms, 9);
  });

  it.each(['', '1', 's', '1d', '-1s', '1s ', ' 1s', '1 s', '.s', '1s2', 'one'])('%j is none', (text) => {
    expect(parseGoDuration(text)).toBeUndefined();
  });
});
