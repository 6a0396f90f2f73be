/**
 * The simulated service in a process of its own. Started with the number of machines, it tells where it is. Told a shape, it
 * answers with the largest bodies of this shape that are read.
 */
import { largeBodies } from '../test/support/body-shapes.ts';
import { FaultServer } from '../test/support/fault-server.ts';

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
  const service: Service = { url: server.url, key: server.sandbox.key };
  process.send?.(service);
  process.on('message', ({ name, isZipped }: Shape) => server.suffer(largeBodies(name, { isZipped, slots: 32 })));
}
