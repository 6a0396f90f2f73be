import { describe, expect, it, vi } from 'vitest';
import { pagePieces } from '../../../src/status-page/page.ts';
import { renderedPage } from '../../../src/toolkit/web/send.ts';
import { NOW } from '../../support/time/timing.ts';
import { VirtualClock } from '../../support/time/virtual-clock.ts';
import { pageIn } from '../../support/web/status-states.ts';

const EMPTY = await pageIn('empty');

describe('web/send: a rendered page', () => {
  it('renders at most once a second', async () => {
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
});
