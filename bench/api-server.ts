/** The simulated service in a process of its own. Started with the number of machines; tells where it is. */
import { systemClock } from '../src/lib/clock.ts';
import { startSandbox } from '../src/sandbox/server.ts';

const { url, sandbox } = await startSandbox({
  host: '127.0.0.1',
  port: 0,
  clock: systemClock,
  machines: Number(process.argv[2]),
  plan: { perSecond: 100 },
});
process.send?.({ url, key: sandbox.key });
