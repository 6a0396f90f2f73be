import { documentsOf } from '../../../src/status-page/documentation.ts';
import { pagePieces } from '../../../src/status-page/page.ts';
import { systemClock } from '../../../src/toolkit/lib/clock.ts';
import { RenderedPage } from '../../../src/toolkit/web/rendered-page.ts';
import { type RunningServer, startServer } from '../../../src/toolkit/web/server.ts';
import { pageIn, type StateName } from './status-states.ts';

/** Serves the status page in the state that was selected last. */
export async function serveStatus(): Promise<RunningServer & { show(name: StateName): void }> {
  let page: RenderedPage;
  const show = (name: StateName): void => {
    page = new RenderedPage(() => pagePieces(pageIn(name)), systemClock);
  };
  show('healthy');
  const server = await startServer(
    { host: '127.0.0.1', port: 0, telemetryPath: '/metrics' },
    {
      metrics: () => [],
      unhealthy: () => undefined,
      ready: () => true,
      reload: async () => undefined,
      documents: documentsOf(() => page.bytes()),
      onError: (error) => {
        throw error;
      },
    },
  );
  return { ...server, show };
}
