import { atTheEnd } from '../vitest/cleanup.ts';
import { FaultServer, type FaultServerOptions } from './fault-server.ts';

/** Starts the sandbox behind a fault proxy on a free port. It stops after the tests of the file. */
export async function startService(key: string, options: Omit<FaultServerOptions, 'key'> = {}): Promise<FaultServer> {
  const service = new FaultServer({ ...options, key });
  await service.listen();
  atTheEnd(() => service.close());
  return service;
}
