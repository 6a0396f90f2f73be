import { pagesOf } from '../../../src/status-page/documentation.ts';
import { type Pages, type RunningServer, type ServerOptions, startServer } from '../../../src/toolkit/web/server.ts';
import { atTheEnd } from '../vitest/cleanup.ts';

/** Serves pages on a free port of loopback until the tests of the file have ended. By default all is well. */
export async function servePages(pages: Partial<Pages>, options: Partial<ServerOptions> = {}): Promise<RunningServer> {
  const server = await startServer(
    { host: '127.0.0.1', port: 0, telemetryPath: '/metrics', ...options },
    {
      metrics: () => [],
      unhealthy: () => undefined,
      unready: () => undefined,
      pages: pagesOf(async () => Buffer.from('<!doctype html>')),
      reload: async () => undefined,
      onError: (error) => {
        throw error;
      },
      ...pages,
    },
  );
  // Some tests close it themselves.
  atTheEnd(() => server.close().catch(() => undefined));
  return server;
}
