import { type Logger, pino } from 'pino';
import { type Exporter, startExporter } from '../../src/exporter/exporter.ts';
import type { Outside } from '../../src/exporter/outside.ts';
import type { Settings } from '../../src/exporter/settings.ts';
import { codeOf } from '../../src/lib/error-code.ts';
import { ProcessMetrics } from '../../src/metrics/self.ts';
import type { Replica } from '../../src/replica/replica.ts';
import type { StateStore } from '../../src/state/store.ts';
import { never, type ProcessClock } from './clock.ts';
import type { Gate } from './gate.ts';

/** The program kills itself if it has not stopped after this time. */
const STOP_WITHIN_MS = 4_500;
const KEPT_LINES = 200;
/** The line that tells what is polled how often. */
const PLAN = /"msg":"the budget (allows|does not allow) the configured intervals/;

/** A death that comes right after a call. */
export interface Deadline {
  /** Undefined: any call. */
  readonly call?: string | undefined;
  /** How many of them from now. */
  readonly calls: number;
  /** How many calls of any kind after these. */
  readonly more?: number | undefined;
  /** Calls at which this is not true are not counted. */
  readonly when?: () => boolean;
  /** The whole machine loses power. */
  readonly takesPower?: boolean;
}

export const POWER_LOST = 'loss of power';

export interface ProcessOptions {
  /** Of all processes of the story. */
  readonly number: number;
  readonly clock: ProcessClock;
  readonly outside: (gate: Gate) => Outside;
  /** Opens the state as the program does. @throws StateRefused */
  readonly open: (
    gate: Gate,
    log: Logger,
  ) => Promise<{ documents: StateStore & { close(): Promise<void> }; replica?: Replica }>;
  /** Reads the configuration. @throws Error that says what is wrong with it */
  readonly read: (kind: 'start' | 'reload') => Settings;
  /** How long a call takes before it has its effect, ms. */
  readonly latencyOf: (call: string) => number;
  /** A call has had its effect, or has failed with this code. */
  readonly onCall: (call: string, code: string | undefined) => void;
  /** The process is gone, for this reason. */
  readonly onEnd: (why: string) => void;
}

/** One process of the program, from its start to its death. */
export class ExporterProcess implements Gate {
  readonly number: number;
  readonly clock: ProcessClock;
  /** The newest lines of its log. */
  readonly lines: string[] = [];
  /** The lines at level error that no check has read. */
  readonly errors: { readonly at: number; readonly line: string }[] = [];
  /** When a plan was logged, and no check has read it. */
  readonly plans: number[] = [];
  readonly startedAt: number;
  readonly replica: Promise<Replica | undefined>;
  #exporter: Exporter | undefined;
  #calls = 0;
  #reloadsAfterStart = false;
  #deadline: Deadline | undefined;
  #stoppingSince: number | undefined;
  #logBytes = 0;
  readonly #latencyOf: ProcessOptions['latencyOf'];
  readonly #onCall: ProcessOptions['onCall'];
  #reloads = 0;
  readonly #onEnd: (why: string) => void;

  constructor(options: ProcessOptions) {
    this.number = options.number;
    this.clock = options.clock;
    this.startedAt = options.clock.trueTime();
    this.#latencyOf = options.latencyOf;
    this.#onCall = options.onCall;
    this.#onEnd = options.onEnd;
    const opened = Promise.withResolvers<Replica | undefined>();
    this.replica = opened.promise;
    void this.#start(options, opened.resolve).catch((error: unknown) => this.die(`refused: ${String(error)}`));
  }

  /** undefined: it has not started yet, or it is dead. */
  get exporter(): Exporter | undefined {
    return this.clock.isDead ? undefined : this.#exporter;
  }

  /** Whether it could be scraped, dead or not. */
  get hasStarted(): boolean {
    return this.#exporter !== undefined;
  }

  get isStopping(): boolean {
    return this.#stoppingSince !== undefined;
  }

  /** When it was told to stop, true time. */
  get stoppingSince(): number | undefined {
    return this.#stoppingSince;
  }

  get logBytes(): number {
    return this.#logBytes;
  }

  get calls(): number {
    return this.#calls;
  }

  call<T>(name: string, effect: () => T): Promise<T> {
    if (this.clock.isDead) return never();
    const ms = this.#latencyOf(name);
    if (ms > 0) return this.clock.sleep(ms).then(() => this.#call(name, effect));
    return this.clock.isPaused ? this.#call(name, effect) : this.#callNow(name, effect);
  }

  #call<T>(name: string, effect: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.clock.enter(() => void this.#callNow(name, effect).then(resolve, reject));
    });
  }

  #callNow<T>(name: string, effect: () => T): Promise<T> {
    this.#calls += 1;
    try {
      const result = effect();
      this.#onCall(name, undefined);
      if (!this.#isDue(name)) return Promise.resolve(result);
      this.die(this.#deadline?.takesPower ? POWER_LOST : 'kill -9 between two calls');
      return never();
    } catch (error) {
      this.#onCall(name, codeOf(error));
      return Promise.reject(error);
    }
  }

  /** It is killed right after a call, when that has had its effect. */
  dieAfter(deadline: Deadline | undefined): void {
    this.#deadline = deadline;
  }

  #isDue(name: string): boolean {
    const { call = name, calls, more = 0, when } = this.#deadline ?? {};
    if (calls === undefined || call !== name || when?.() === false) return false;
    const isOver = calls <= 1;
    this.#deadline = isOver && more > 0 ? { calls: more } : { ...this.#deadline, calls: calls - 1 };
    return isOver && more === 0;
  }

  /** kill -9: nothing of it runs any more. */
  die(why: string): void {
    if (this.clock.isDead) return;
    this.clock.die();
    this.#onEnd(why);
  }

  /** A reload has begun, and not ended. */
  get isReloading(): boolean {
    return this.#exporter !== undefined && this.#reloads > 0;
  }

  /** The operator asks it to read its configuration again; as soon as it has started, if it still does. */
  reload(): void {
    this.#reloadsAfterStart = this.#exporter === undefined;
    this.clock.enter(() => {
      this.#reloads += 1;
      void this.#exporter?.reload().finally(() => {
        this.#reloads -= 1;
      });
    });
  }

  /** SIGTERM. */
  stop(): void {
    if (this.isStopping || this.clock.isDead) return;
    this.#stoppingSince = this.clock.trueTime();
    this.clock.enter(() => {
      if (!this.#exporter) return this.die('stopped while it started');
      void this.clock.sleep(STOP_WITHIN_MS).then(() => this.die('not stopped in time'));
      void this.#exporter.stop().then(
        () => this.die('stopped'),
        (error: unknown) => this.die(`stopped with ${String(error)}`),
      );
    });
  }

  async #start(options: ProcessOptions, onOpen: (replica: Replica | undefined) => void): Promise<void> {
    const log = this.#log();
    const { documents, replica } = await options.open(this, log);
    onOpen(replica);
    const exporter = await startExporter({
      ...options.read('start'),
      clock: replica?.clock ?? this.clock,
      ownClock: this.clock,
      log,
      documents,
      replica,
      processMetrics: new ProcessMetrics(false),
      readAgain: async () => options.read('reload'),
      outside: options.outside(this),
    });
    this.#exporter = exporter;
    if (this.#reloadsAfterStart) this.reload();
  }

  #log(): Logger {
    const write = (line: string): void => {
      this.lines.push(line);
      this.#logBytes += line.length;
      if (line.startsWith('{"level":"error"')) this.errors.push({ at: this.clock.trueTime(), line });
      if (PLAN.test(line)) this.plans.push(this.clock.trueTime());
      if (this.lines.length > 2 * KEPT_LINES) this.lines.splice(0, KEPT_LINES);
    };
    const timestamp = (): string => `,"time":"${new Date(this.clock.now()).toISOString()}"`;
    return pino({ level: 'info', base: null, timestamp, formatters: { level: (level) => ({ level }) } }, { write });
  }
}
