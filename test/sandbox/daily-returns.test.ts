import { expect, it } from 'vitest';
import { Datapoint } from '../../src/api/answers/daily-returns.ts';
import type { Sandbox } from '../../src/sandbox/world.ts';
import { HOUR, NOW, pagesOf, post, read, SECOND, sandboxOf } from './call.ts';

const PATH = '/api/v2/ethereum/benchmark-store';
/** End of mainnet's day 1813, Unix seconds (api-facts 3.3: day 1800 starts at 1762344023). */
const DAY_END = 1_762_344_023 + 14 * 86_400;

interface Answer {
  data: Datapoint[];
  range: object;
  paging: { next_cursor: string };
}

function page(sandbox: Sandbox, body: object, now = NOW): Answer {
  const answer: Answer = read(sandbox, PATH, body, now);
  for (const point of answer.data) expect(Datapoint.parse(point)).toEqual(point);
  return answer;
}

const ask = (range: object, size = 10): object => ({ chain: 'mainnet', range, page_size: size });

it('publishes a day 40 minutes after its end', () => {
  const newest = (minutes: number): number | undefined =>
    page(sandboxOf(), ask({ evaluation_window: '24h' }), (DAY_END + minutes * 60) * SECOND).data[0]?.day;
  expect([newest(39), newest(40), newest(24 * 60)]).toEqual([1812, 1813, 1813]);
});

it.each([
  ['24h', 1],
  ['7d', 7],
  ['30d', 30],
  ['90d', 90],
  ['all_time', 1814],
])('gives for %s the newest %i days, newest first, each once over all pages', (window, count) => {
  for (const size of [1, 7, 10]) {
    const [sandbox, body] = [sandboxOf(), ask({ evaluation_window: window }, size)];
    const days = pagesOf((one, at) => page(sandbox, one, at), body).flatMap(({ data }) => data.map(({ day }) => day));
    expect(days).toEqual(Array.from({ length: count }, (_, i) => 1813 - i));
    expect(page(sandboxOf(), body).data).toHaveLength(Math.min(size, count));
  }
});

it('gives the range that the days of a page cover', () => {
  const { range } = page(sandboxOf(), ask({ evaluation_window: '7d' }, 3));
  expect(range).toMatchObject({ epoch: { start: 1811 * 225, end: 1814 * 225 - 1 }, timestamp: { end: DAY_END - 1 } });
});

it('publishes days earlier or later as configured, and hides the newest until a time', () => {
  const shownAt = (sandbox: Sandbox, hours: number): number | undefined =>
    page(sandbox, ask({ evaluation_window: '24h' }), DAY_END * SECOND + hours * HOUR).data[0]?.day;
  const late = sandboxOf({ publication: { delayMs: 8 * HOUR, spread: 0.5 } });
  expect([3.9, 12.1].map((hours) => shownAt(late, hours))).toEqual([1812, 1813]);
  const delays = Array.from({ length: 20 }, (_, seed) => {
    const sandbox = sandboxOf({ seed: String(seed), publication: late.publication });
    return [4, 5, 6, 7, 8, 9, 10, 11, 12].find((hours) => shownAt(sandbox, hours) === 1813);
  });
  expect(new Set(delays).size).toBeGreaterThan(4);
  late.publication.olderUntil = DAY_END * SECOND + 13 * HOUR;
  expect([12.9, 13].map((hours) => shownAt(late, hours))).toEqual([1812, 1813]);
});

it('refuses ranges on a plan other than scale', () => {
  const { status, body } = post(sandboxOf({ plan: 'business' }), PATH, ask({ timestamp: { start: 0, end: 1 } }));
  expect(status).toBe(403);
  expect(JSON.parse(body).error).toMatch(/^endpoint not allowed for your subscription tier; upgrade/);
});
