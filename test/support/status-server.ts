import { systemClock } from '../../src/lib/clock.ts';
import { pagePieces } from '../../src/web/page.ts';
import { RenderedPage } from '../../src/web/rendered-page.ts';
import { type RunningServer, startServer } from '../../src/web/server.ts';
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
      status: () => page.bytes(),
      onError: (error) => {
        throw error;
      },
    },
  );
  return { ...server, show };
}
