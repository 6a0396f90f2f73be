import { pagesOf } from '../../../src/status-page/documentation.ts';
import { pagePieces } from '../../../src/status-page/page.ts';
import { systemClock } from '../../../src/toolkit/lib/clock.ts';
import { renderedPage } from '../../../src/toolkit/web/send.ts';
import type { RunningServer } from '../../../src/toolkit/web/server.ts';
import { servePages } from './pages.ts';
import { pageIn, type StateName } from './status-states.ts';

/** Serves the status page in the state that was selected last. */
export async function serveStatus(): Promise<RunningServer & { show(name: StateName): Promise<void> }> {
  let page: () => Promise<Buffer>;
  const show = async (name: StateName): Promise<void> => {
    const shown = await pageIn(name);
    page = renderedPage(() => pagePieces(shown), systemClock);
  };
  await show('healthy');
  return { ...(await servePages({ pages: pagesOf(() => page()) })), show };
}
