import type { Transport } from '../../src/api/transport.ts';
import type { Outside } from '../../src/exporter/outside.ts';
import { DAY } from '../support/timing.ts';
import type { ProcessClock } from './clock.ts';
import type { Gate } from './gate.ts';
import { gated } from './gated-transport.ts';
import { transportOf } from './service/transport.ts';
import { isLong } from './story.ts';
import type { World } from './world.ts';

/** What one process uses of the world apart from clock, log and documents. `onRequest` returns what ends the request. */
export function outsideOf(
  world: World,
  sender: { readonly host: string; readonly process: number },
  gate: Gate,
  own: ProcessClock,
  onRequest: (now: number) => () => void,
): Outside {
  const { clock, service, network, exporter, traffic } = world;
  const random = world.random.fork(`process ${sender.process}`);
  return {
    createTransport: ({ timeoutMs }) => {
      const wire = { process: sender.host, timeoutMs, time: clock, random: random.fork('network') };
      const send = transportOf(service, network, wire);
      const noted: Transport = (request, signal) => send(request, signal).finally(onRequest(clock.now()));
      const traveller = { ...sender, time: clock, own };
      const leaving = traffic.leaving(noted, traveller);
      return { send: traffic.arriving(gated(leaving, gate), traveller), close: async () => undefined };
    },
    random: () => random.unit(),
    exposition: {
      // Bytes that are not compressed are served as well as any: nothing reads them here.
      compress: async (plain) => plain,
      maxNapMs: exporter.refreshMs,
      restMs: isLong(world.story) ? DAY : 0,
    },
  };
}
