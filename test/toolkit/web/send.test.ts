import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import type { Row } from '../../../src/sources/content.ts';
import { pagePieces } from '../../../src/status-page/page.ts';
import type { Clock } from '../../../src/toolkit/lib/clock.ts';
import { renderedPage } from '../../../src/toolkit/web/send.ts';
import { NOW } from '../../support/time/timing.ts';
import { VirtualClock } from '../../support/time/virtual-clock.ts';
import { pageIn } from '../../support/web/status-states.ts';

const EMPTY = await pageIn('empty');

describe('web/send: a rendered page', () => {
  it('renders once a second, however many ask', async () => {
    const clock = new VirtualClock(NOW);
    const read = vi.fn(() => pagePieces(EMPTY));
    const page = renderedPage(read, clock);
    await Promise.all([page(), page(), page()]);
    await clock.advance(999);
    await page();
    expect(read).toHaveBeenCalledTimes(1);
    await clock.advance(1);
    await page();
    expect(read).toHaveBeenCalledTimes(2);
  });

  it('lets other work run between rows', async () => {
    // Every look at this clock is later than the one before by more than a slice.
    let elapsed = 0;
    const clock: Clock = {
      ...new VirtualClock(NOW),
      now: () => NOW,
      sleep: async () => undefined,
      monotonic: () => (elapsed += 6),
    };
    const order: string[] = [];
    function* rows(): Generator<Row> {
      for (const name of ['one', 'two', 'three']) {
        order.push(name);
        yield [name];
      }
    }
    const table = { title: 'Rows', columns: ['Name'], rows: { [Symbol.iterator]: rows }, size: 3, empty: '' };
    const bytes = renderedPage(() => pagePieces({ ...EMPTY, tables: [table] }), clock)();
    while (!order.includes('three')) {
      order.push('turn');
      await setImmediate();
    }
    await bytes;
    expect(order.filter((one, i) => one === 'turn' && order[i - 1] !== 'turn').length).toBeGreaterThanOrEqual(2);
  });
});
