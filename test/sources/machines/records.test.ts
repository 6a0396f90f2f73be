import { describe, expect, it } from 'vitest';
import { SystemRecord } from '../../../src/api/answers/machines.ts';
import { systemRecord } from '../../support/answers/machine-records.ts';

describe('sources/machines records', () => {
  it.each([
    ['seconds', 1790769623, 1790769623],
    ['milliseconds', 1790769623456, 1790769623.456],
    ['the largest seconds', 1e11, 1e11],
    ['the smallest milliseconds', 1e11 + 1, 1e8 + 0.001],
  ])('reads a timestamp in %s', (_, timestamp, seconds) => {
    expect(SystemRecord.parse(systemRecord({ timestamp })).timestamp).toBe(seconds);
  });

  it('lets unknown fields pass and forgets them, whatever their name', () => {
    const record = JSON.parse('{"timestamp":1790769623,"__proto__":{"cpu_cores":1},"constructor":1,"version":2}');
    expect(SystemRecord.parse(record)).toEqual({ timestamp: 1790769623 });
  });
});
