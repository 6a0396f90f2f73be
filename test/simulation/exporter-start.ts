import type { Logger } from 'pino';
import { openSharedState, openState } from '../../src/exporter/state.ts';
import type { Replica } from '../../src/replica/replica.ts';
import { makeDirectory } from '../../src/state/directory.ts';
import { ProcessClock } from './clock.ts';
import { diskOf } from './disk.ts';
import type { ExporterHost } from './exporter-host.ts';
import { outsideOf } from './exporter-outside.ts';
import { ExporterProcess } from './exporter-process.ts';
import { configOf, STATE_DIR } from './exporter-setting.ts';
import type { Gate } from './gate.ts';
import type { HostWatch } from './host-watch.ts';
import type { Random } from './random.ts';
import { connectTo } from './redis-connection.ts';
import type { World } from './world.ts';

/** Where a process starts. */
export interface Place {
  readonly world: World;
  readonly host: ExporterHost;
  readonly watch: HostWatch;
  /** For the latency of the disk. */
  readonly random: Random;
}

/** Starts a process, and gives it all that it uses of the world. `onEnd` is called with the reason when it is gone. */
export function startProcess(place: Place, onEnd: (why: string) => void): ExporterProcess {
  const { world, host, watch, random } = place;
  const number = world.nextProcess();
  const own = new ProcessClock(world.clock, host.clockOffsetMs);
  return new ExporterProcess({
    number,
    clock: own,
    read: (kind) => world.readConfiguration(kind, host.name, number),
    latencyOf: (call) => {
      const [low, high] = host.diskLatencyMs;
      return high > 0 && call.startsWith('disk') ? random.scale(low, high) : 0;
    },
    onCall: (call, code) => watch.onCall(call, code),
    outside: (gate) => outsideOf(world, { host: host.name, process: number }, gate, own, (now) => watch.onRequest(now)),
    open: async (gate, log) => {
      if (world.exporter.replicas > 0) {
        const replica = await openShared(place, gate, own, log, number);
        return { documents: replica, replica };
      }
      const disk = diskOf(host.disk, gate);
      const noLock = { check: () => makeDirectory(STATE_DIR, disk), release: async () => undefined };
      const documents = await openState(STATE_DIR, own, log, { disk, lock: noLock });
      return { documents: host.versions.through(documents) };
    },
    onEnd,
  });
}

function openShared(
  { world, host }: Place,
  gate: Gate,
  own: ProcessClock,
  log: Logger,
  number: number,
): Promise<Replica> {
  const { clock, redis, exporter } = world;
  const { redis: settings } = configOf(exporter).state;
  if (!settings || !redis) throw new TypeError('no redis');
  const connect = connectTo(redis, host.redisNetwork, clock, gate);
  return openSharedState(settings, own, log, { connect, id: `${host.name}-${number}` });
}
