import { expect, it } from 'vitest';
import { createFleet } from '../../src/sandbox/machines.ts';
import type { Sandbox } from '../../src/sandbox/world.ts';
import { BAD_REQUEST, NOW, pagesOf, post, read, refusalOf, SECOND, sandboxOf } from './call.ts';

const PATH = '/api/v2/machine-metrics';
const ARRAYS = ['system_metrics', 'validator_metrics', 'node_metrics'] as const;

type Wire = Record<string, unknown> & { timestamp: number; machine: string };

interface Page {
  data: Record<(typeof ARRAYS)[number], Wire[]>;
  paging: { next_cursor: string };
}

/** The last `seconds` up to `end` (Unix ms). */
function last(seconds: number, end = NOW): { range: { timestamp: { start: number; end: number } } } {
  return { range: { timestamp: { start: end / 1000 - seconds, end: end / 1000 } } };
}

function page(sandbox: Sandbox, body: object, now = NOW): Page {
  return read(sandbox, PATH, body, now);
}

function keysOf(records: readonly Wire[]): string[] {
  return records.map(({ timestamp, machine }) => `${timestamp} ${machine}`);
}

it.each([
  { pageSizeOver: 'each', size: 3 },
  { pageSizeOver: 'all', size: 3 },
  { pageSizeOver: 'each', size: 10, longestPage: 7 },
] as const)('returns each record once, newest first, over pages of $size over $pageSizeOver', (options) => {
  const { size, ...keeping } = options;
  const sandbox = sandboxOf({ machines: createFleet('pages', 120, keeping) });
  const pages = pagesOf((body, now) => page(sandbox, body, now), { ...last(75), page_size: size }, NOW, SECOND);
  const longest = Math.min(size, keeping.longestPage ?? size);
  for (const { data } of pages.slice(0, 9)) {
    const lengths = ARRAYS.map((name) => data[name].length);
    const counted = keeping.pageSizeOver === 'each' ? Math.max(...lengths) : lengths.reduce((a, b) => a + b);
    expect(counted).toBe(longest);
  }
  for (const name of ARRAYS) {
    const single = [...sandbox.fleet.machines.keys()]
      .flatMap((machine) => page(sandbox, { ...last(75), machines: [machine] }).data[name])
      .sort((a, b) => b.timestamp - a.timestamp || (a.machine < b.machine ? -1 : 1));
    expect(keysOf(pages.flatMap(({ data }) => data[name]))).toEqual(keysOf(single));
    expect(single.length).toBeGreaterThan(70);
  }
});

it('refuses a cursor with another body than the one it was given for', () => {
  const sandbox = sandboxOf({ machines: 50 });
  const body = { ...last(75), page_size: 5 };
  const cursor = page(sandbox, body).paging.next_cursor;
  expect(page(sandbox, { ...body, cursor }).data.system_metrics.length).toBe(5);
  for (const changed of [{ page_size: 6 }, { machines: ['node-a'] }, last(76)]) {
    expect(refusalOf(post(sandbox, PATH, { ...body, ...changed, cursor }))).toEqual(BAD_REQUEST);
  }
});
