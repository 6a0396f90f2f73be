import { describe, expect, it } from 'vitest';
import { machinesSource } from '../../../src/sources/machines/index.ts';
import { machinesOptions } from '../../support/answers/machine-records.ts';
import { attempts, HOUR, NOW, timing } from '../../support/time/timing.ts';

describe('sources/machines/index', () => {
  const source = machinesSource(machinesOptions());

  it('is due after the effective interval and up to a tenth more, each time another part of it', () => {
    const delays = Array.from({ length: 50 }, (_, i) => {
      const last = NOW + i * 61_000;
      return source.due(source.empty, attempts(last), timing({ intervalMs: HOUR })) - last - HOUR;
    });
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...delays)).toBeLessThan(HOUR / 10);
    expect(Math.max(...delays) - Math.min(...delays)).toBeGreaterThan(HOUR / 15);
    expect(new Set(delays).size).toBeGreaterThan(45);
  });

  it('asks for as many requests as a sweep costs, on a scarce budget also for those of one sweep in thirty', () => {
    expect(source.pace(Number.POSITIVE_INFINITY, 2.5).requestsPerDay).toBe(2.5 * 1_440);
    expect(source.pace(24, 1).intervalMs).toBeCloseTo((1 + 2 / 30) * HOUR);
  });
});
