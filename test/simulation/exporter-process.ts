import { type Logger, pino } from 'pino';
import { type Exporter, startExporter } from '../../src/exporter/exporter.ts';
import type { Outside } from '../../src/exporter/outside.ts';
import type { Settings } from '../../src/exporter/settings.ts';
import { ProcessMetrics } from '../../src/metrics/self.ts';
import type { Replica } from '../../src/replica/replica.ts';
import type { StateStore } from '../../src/state/store.ts';
import { never, type ProcessClock } from './clock.ts';
import type { Gate } from './gate.ts';

/** The program kills itself if it has not stopped after this time. */
const STOP_WITHIN_MS = 4_500;
const KEPT_LINES = 200;

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
  /** The process is gone, for this reason. */
  readonly onEnd: (why: string) => void;
}

/** One process of the program, from its start to its death. */
export class ExporterProcess implements Gate {
  readonly number: number;
  readonly clock: ProcessClock;
  /** The newest lines of its log. */
  readonly lines: string[] = [];
  readonly replica: Promise<Replica | undefined>;
  #exporter: Exporter | undefined;
  #calls = 0;
  #diesAtCall = Number.POSITIVE_INFINITY;
  #isStopping = false;
  #reloadsAfterStart = false;
  readonly #onEnd: (why: string) => void;

  constructor(options: ProcessOptions) {
    this.number = options.number;
    this.clock = options.clock;
    this.#onEnd = options.onEnd;
    const opened = Promise.withResolvers<Replica | undefined>();
    this.replica = opened.promise;
    void this.#start(options, opened.resolve).catch((error: unknown) => this.die(`refused: ${String(error)}`));
  }

  /** undefined: it has not started yet, or it is dead. */
  get exporter(): Exporter | undefined {
    return this.clock.isDead ? undefined : this.#exporter;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  get calls(): number {
    return this.#calls;
  }

  call<T>(_name: string, effect: () => T): Promise<T> {
    if (this.clock.isDead) return never();
    return new Promise((resolve, reject) => {
      this.clock.enter(() => {
        this.#calls += 1;
        try {
          const result = effect();
          if (this.#calls >= this.#diesAtCall) this.die('kill -9 between two calls');
          else resolve(result);
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  /** It is killed right after the call that is so many calls from now. */
  dieAfterCalls(calls: number): void {
    this.#diesAtCall = this.#calls + calls;
  }

  /** kill -9: nothing of it runs any more. */
  die(why: string): void {
    if (this.clock.isDead) return;
    this.clock.die();
    this.#onEnd(why);
  }

  /** The operator asks it to read its configuration again; as soon as it has started, if it still does. */
  reload(): void {
    this.#reloadsAfterStart = this.#exporter === undefined;
    this.clock.enter(() => void this.#exporter?.reload());
  }

  /** SIGTERM. */
  stop(): void {
    if (this.#isStopping || this.clock.isDead) return;
    this.#isStopping = true;
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
      if (this.lines.length > 2 * KEPT_LINES) this.lines.splice(0, KEPT_LINES);
    };
    const timestamp = (): string => `,"time":"${new Date(this.clock.now()).toISOString()}"`;
    return pino({ level: 'info', base: null, timestamp, formatters: { level: (level) => ({ level }) } }, { write });
  }
}
