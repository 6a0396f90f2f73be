import type { Logger } from 'pino';
import type { CreateTransport } from '../../src/api/transport.ts';
import type { Outside } from '../../src/exporter/outside.ts';
import { openSharedState, openState } from '../../src/exporter/state.ts';
import type { Replica } from '../../src/replica/replica.ts';
import { ProcessClock } from './clock.ts';
import { diskOf, SimulatedDisk } from './disk.ts';
import { ExporterProcess, type ProcessOptions } from './exporter-process.ts';
import { configOf, STATE_DIR } from './exporter-setting.ts';
import type { Gate } from './gate.ts';
import { gated } from './gated-transport.ts';
import { SimulatedHost } from './host.ts';
import { connectTo } from './redis-connection.ts';
import { RedisNetwork } from './redis-network.ts';
import { transportOf } from './service/transport.ts';
import type { World } from './world.ts';

/** A supervisor such as systemd starts a process again after this time. */
const RESTART_MS = 5_000;

/** A machine that runs the exporter: its disk, its clock, and one process at a time, which a supervisor restarts. */
export class ExporterHost {
  readonly name: string;
  readonly disk: SimulatedDisk;
  readonly redisNetwork: RedisNetwork;
  readonly #world: World;
  readonly #system: SimulatedHost;
  #process: ExporterProcess | undefined;
  /** How far its clock is ahead of true time, ms. */
  #clockOffsetMs = 0;
  #isWanted = true;
  /** Why the last process ended. */
  lastEnd = '';

  constructor(world: World, name: string) {
    this.name = name;
    this.#world = world;
    this.#system = new SimulatedHost(name);
    const random = world.random.fork(name);
    this.disk = new SimulatedDisk(() => world.clock.now() + this.#clockOffsetMs);
    this.redisNetwork = new RedisNetwork(world.clock, random.fork('way to redis'));
  }

  /** The current process, which may still be starting. */
  get process(): ExporterProcess | undefined {
    return this.#process;
  }

  get clockOffsetMs(): number {
    return this.#clockOffsetMs;
  }

  /** Starts a process unless one runs. */
  start(): void {
    this.#isWanted = true;
    if (!this.#process) this.#launch();
  }

  /** Sets the clock of the machine. */
  setClock(offsetMs: number): void {
    const { clock, traffic } = this.#world;
    traffic.note({ kind: 'step', at: clock.now(), host: this.name, byMs: offsetMs - this.#clockOffsetMs });
    this.#clockOffsetMs = offsetMs;
    this.#process?.clock.setOffset(offsetMs);
  }

  /** SIGTERM, and a start `downMs` later. */
  restart(downMs: number): void {
    this.#isWanted = false;
    this.#process?.stop();
    this.#world.clock.after(downMs, () => this.start());
  }

  /** kill -9, now or after so many more calls, and a start `downMs` later. */
  kill(downMs: number, afterCalls = 0): void {
    if (afterCalls > 0) {
      this.#process?.dieAfterCalls(afterCalls);
      return;
    }
    this.#isWanted = false;
    this.#process?.die('kill -9');
    this.#world.clock.after(downMs, () => this.start());
  }

  /** The machine loses power. What was not synced may be lost. */
  losePower(downMs: number): void {
    this.#isWanted = false;
    this.#process?.die('loss of power');
    this.#system.reboot();
    this.disk.loseWhatIsNotSynced(this.#world.random.fork(`loss of power ${this.name} ${this.#world.clock.now()}`));
    this.#world.clock.after(downMs, () => this.start());
  }

  /** The disk, the clock and the network are as they should be, and the process runs. */
  calm(): void {
    this.disk.calm();
    this.redisNetwork.calm();
    this.setClock(0);
    this.#process?.clock.resume();
    this.start();
  }

  #launch(): void {
    const { clock } = this.#world;
    const number = this.#world.nextProcess();
    const own = new ProcessClock(clock, this.#clockOffsetMs);
    const system = this.#system.start();
    const options: ProcessOptions = {
      number,
      clock: own,
      read: (kind) => this.#world.readConfiguration(kind, this.name, number),
      outside: (gate) => this.#outside(gate, own, number),
      open: async (gate, log) => {
        if (this.#world.exporter.replicas > 0) {
          const replica = await this.#openShared(gate, own, log, number);
          return { documents: replica, replica };
        }
        return { documents: await openState(STATE_DIR, own, log, { disk: diskOf(this.disk, gate), host: system }) };
      },
      onEnd: (why) => {
        system.end();
        this.#process = undefined;
        this.lastEnd = why;
        this.#world.onEnd(this, number, why);
        if (this.#isWanted) clock.after(RESTART_MS, () => this.start());
      },
    };
    this.#process = new ExporterProcess(options);
  }

  #openShared(gate: Gate, own: ProcessClock, log: Logger, number: number): Promise<Replica> {
    const { clock, redis, exporter } = this.#world;
    const { redis: settings } = configOf(exporter).state;
    if (!settings || !redis) throw new TypeError('no redis');
    const connect = connectTo(redis, this.redisNetwork, clock, gate);
    return openSharedState(settings, own, log, { connect, id: `${this.name}-${number}` });
  }

  #outside(gate: Gate, own: ProcessClock, number: number): Outside {
    const { clock, service, network, exporter, traffic } = this.#world;
    const random = this.#world.random.fork(`process ${number}`);
    const createTransport: CreateTransport = ({ timeoutMs }) => {
      const wire = { process: this.name, timeoutMs, time: clock, random: random.fork('network') };
      const sender = { host: this.name, process: number, time: clock, own };
      const leaving = traffic.leaving(transportOf(service, network, wire), sender);
      return { send: traffic.arriving(gated(leaving, gate), sender), close: async () => undefined };
    };
    return {
      createTransport,
      random: () => random.unit(),
      // Bytes that are not compressed are served as well as any: nothing reads them here.
      exposition: { compress: async (plain) => plain, maxNapMs: exporter.refreshMs },
    };
  }
}
