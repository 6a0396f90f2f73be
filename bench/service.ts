/**
 * The sandbox in a separate process. The argument is the number of machines. Sends its URL and key to the
 * parent. After the parent sends a shape, it answers with the largest bodies of this shape that the exporter accepts.
 */

import { FaultServer } from '../test/support/faults/fault-server.ts';
import { largeBodies } from './body-shapes.ts';

export interface Service {
  readonly url: string;
  readonly key: string;
}

export interface Shape {
  readonly name: string;
  readonly isZipped: boolean;
}

if (import.meta.main) {
  const server = new FaultServer({ machines: Number(process.argv[2]), plan: { perSecond: 100 } });
  await server.listen();
  const service: Service = { url: server.url, key: server.sandbox.account.key };
  process.send?.(service);
  process.on('message', ({ name, isZipped }: Shape) => server.suffer(largeBodies(name, { isZipped, slots: 32 })));
}
