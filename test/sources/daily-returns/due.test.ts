import { describe, expect, it } from 'vitest';
import { dailyReturnsSource } from '../../../src/sources/daily-returns/index.ts';
import { DAY_2100_END, datapoint } from '../../support/answers/datapoint.ts';
import { attempts, DAY, HOUR, MINUTE, timing } from '../../support/time/timing.ts';

const SOURCE = dailyReturnsSource('mainnet', HOUR);
const DAY_2100 = SOURCE.state.parse({ newest: datapoint() });
const NEXT = DAY_2100_END + DAY + 30 * MINUTE;

function due(state: typeof DAY_2100, lastAttemptAt: number | undefined, intervalMs = HOUR): number {
  return SOURCE.due(state, attempts(lastAttemptAt), timing({ intervalMs }));
}

describe('daily returns are due', () => {
  it('at once before the first attempt, and every interval until the first day is known', () => {
    expect(due({}, undefined)).toBe(0);
    expect(due({}, DAY_2100_END)).toBe(DAY_2100_END + HOUR);
  });

  it('30 minutes after the end of the next day, however short before the last poll was', () => {
    expect(due(DAY_2100, DAY_2100_END + 3 * HOUR)).toBe(NEXT);
    expect(due(DAY_2100, NEXT - MINUTE)).toBe(NEXT);
  });

  it('then every interval until the day is there', () => {
    expect(due(DAY_2100, NEXT)).toBe(NEXT + HOUR);
    expect(due(DAY_2100, NEXT + 5 * HOUR)).toBe(NEXT + 6 * HOUR);
  });

  it('at the latest a day and 30 minutes after the last poll, whatever end the service gives', () => {
    const now = DAY_2100_END - 3 * DAY;
    expect(due(DAY_2100, now)).toBe(now + DAY + 30 * MINUTE);
  });
});
