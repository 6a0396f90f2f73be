import { type Logger, pino } from 'pino';
import { never, ProcessClock } from './clock.ts';
import { type Program, startProgram } from './program.ts';
import { transportOf } from './service/transport.ts';
import type { World } from './world.ts';

/** The program kills itself if it has not stopped after this time. */
const STOP_WITHIN_MS = 4_500;
const KEPT_LINES = 200;
/** The longest nap of the scheduler. */
const HEARTBEAT_MS = 15_000;
const NEXT_ATTEMPT = '\nbeaconchain_source_next_attempt_timestamp_seconds{';

/** What a process does outside of itself. Right after each of them it can be killed. */
export const CALLS = ['request', 'answer', 'write', 'written'] as const;
export type Call = (typeof CALLS)[number];

/** A death that comes right after a call. */
export interface Death {
  /** Absent: any call. */
  readonly call?: Call;
  /** How many of them from now. */
  readonly calls: number;
}

/** One process of the program, from its start to its death. */
export class ExporterProcess {
  /** Of all processes of the story. */
  readonly number: number;
  readonly clock: ProcessClock;
  readonly startedAt: number;
  /** The newest lines of its log. */
  readonly lines: string[] = [];
  /** The lines at level error that no check has read. */
  readonly errors: { readonly at: number; readonly line: string }[] = [];
  logBytes = 0;
  #program: Program | undefined;
  #reloadsAfterStart = false;
  #death: Death | undefined;
  /** When the stop began, true time. */
  stoppingSince: number | undefined;
  readonly #onEnd: (why: string) => void;

  /** `onEnd`: the process is gone, for this reason. */
  constructor(world: World, number: number, onEnd: (why: string) => void) {
    this.number = number;
    this.clock = new ProcessClock(world.clock, world.host.clockOffsetMs, (ms) => this.#napOf(ms, world));
    this.startedAt = world.clock.now();
    this.#onEnd = onEnd;
    void this.#start(world).catch((error: unknown) => this.die(`refused: ${String(error)}`));
  }

  /** undefined: it has not started yet, or it is dead. */
  get program(): Program | undefined {
    return this.clock.isDead ? undefined : this.#program;
  }

  get isStopping(): boolean {
    return this.stoppingSince !== undefined;
  }

  /** Makes a call when the process runs: `effect` happens in the world. After the death it has none, and nothing is heard. */
  call<T>(name: Call, effect: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.clock.enter(() => {
        try {
          const result = effect();
          if (!this.#isDue(name)) return resolve(result);
          this.die('kill -9 between two calls');
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  /** It is killed right after a call, when that has had its effect. */
  dieAfter(death: Death | undefined): void {
    this.#death = death;
  }

  #isDue(name: Call): boolean {
    if (!this.#death || (this.#death.call ?? name) !== name) return false;
    this.#death = { ...this.#death, calls: this.#death.calls - 1 };
    return this.#death.calls <= 0;
  }

  /** kill -9: nothing of it runs any more. */
  die(why: string): void {
    if (this.clock.isDead) return;
    this.clock.die();
    this.#onEnd(why);
  }

  /** The operator asks it to read its configuration again; as soon as it has started, if it still does. */
  reload(): void {
    this.#reloadsAfterStart = this.#program === undefined;
    this.clock.enter(() => void this.#program?.reload());
  }

  /** SIGTERM. */
  stop(): void {
    if (this.isStopping || this.clock.isDead) return;
    this.stoppingSince = this.clock.trueTime();
    this.clock.enter(() => {
      if (!this.#program) return this.die('stopped while it started');
      void this.clock.sleep(STOP_WITHIN_MS).then(() => this.die('not stopped in time'));
      void this.#program.stop().then(
        () => this.die('stopped'),
        (error: unknown) => this.die(`stopped with ${String(error)}`),
      );
    });
  }

  /** In a long story the loop need not check the clock between two polls. */
  #napOf(ms: number, { exporter: { napMs } }: World): number {
    if (ms !== HEARTBEAT_MS || napMs === undefined || !this.#program) return ms;
    const text = this.#program.metrics();
    const from = text.indexOf(NEXT_ATTEMPT);
    const next = text.slice(from, text.indexOf('\n#', from)).matchAll(/ (\S+)$/gm);
    const left = Array.from(next, ([, at]) => Number(at) * 1_000 - this.clock.now());
    // What is due now is still shown as it was.
    return Math.max(ms, Math.min(napMs, ...left));
  }

  async #start(world: World): Promise<void> {
    const random = world.random.fork(`process ${this.number}`);
    const program = await startProgram({
      readSettings: (why) => world.readSettings(why, this.number),
      clock: this.clock,
      log: this.#log(),
      documents: world.host.documents.of(this),
      createTransport: ({ timeoutMs }) => ({
        send: transportOf(world, this, timeoutMs, random.fork('network')),
        close: async () => undefined,
      }),
      random: () => random.unit(),
      refreshMs: world.exporter.refreshMs,
    });
    if (this.clock.isDead) return never();
    this.#program = program;
    if (this.#reloadsAfterStart) this.reload();
  }

  #log(): Logger {
    const write = (line: string): void => {
      this.lines.push(line);
      this.logBytes += line.length;
      if (line.startsWith('{"level":"error"')) this.errors.push({ at: this.clock.trueTime(), line });
      if (this.lines.length > 2 * KEPT_LINES) this.lines.splice(0, KEPT_LINES);
    };
    const timestamp = (): string => `,"time":"${new Date(this.clock.now()).toISOString()}"`;
    return pino({ level: 'info', base: null, timestamp, formatters: { level: (level) => ({ level }) } }, { write });
  }
}
