/** The simulated service in a process of its own. Told a shape, it answers with the largest bodies of it that are read. */
import { largeBodies } from '../test/support/body-shapes.ts';
import { FaultServer } from '../test/support/fault-server.ts';

const [shape = '', coding] = process.argv.slice(2);
const service = new FaultServer({ plan: { perSecond: 100 } });
await service.listen();
const fault = largeBodies(shape, { isZipped: coding === 'gzip', slots: 32 });
process.send?.({ url: service.url, key: service.sandbox.key });
process.once('message', () => service.suffer(fault));
