import { startSandbox } from '../sandbox/server.ts';
import { UsageError } from '../toolkit/flags/flags.ts';
import { systemClock } from '../toolkit/lib/clock.ts';
import { createServer } from '../toolkit/web/server.ts';
import type { Running, Start } from './serve.ts';

/** Serves the simulated service. @throws UsageError */
export async function sandbox({ settings: { config }, access, log }: Start): Promise<Running> {
  const [{ host = '0.0.0.0', port } = { port: 0 }, another] = config.web.listenAddresses;
  if (another) throw new UsageError('the sandbox listens on one address: expected a single --web.listen-address');
  const service = await startSandbox({
    host,
    port,
    clock: systemClock,
    createServer: (listener) => createServer(listener, access),
  });
  const url = access?.isTls ? service.url.replace('http:', 'https:') : service.url;
  log.info({ url, hoodi: `${url}/hoodi`, key: service.sandbox.key }, 'simulated service');
  return { stop: () => service.close().then(() => access?.close()) };
}
