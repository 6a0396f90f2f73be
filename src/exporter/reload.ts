import type { UnixMs } from '../lib/time.ts';
import { type Engine, startEngine } from './engine.ts';
import type { LastReload } from './own-families.ts';
import { limitedReading } from './reading.ts';
import type { EngineOptions } from './role.ts';
import { assertNoRestartNeeded, isChange, type Settings } from './settings.ts';
import type { State } from './state.ts';

export interface SupervisorOptions extends Omit<EngineOptions, 'lastReload' | 'before' | 'operatorAt'> {
  /** Reads the settings as they are now. @throws Error that says what is wrong with them */
  readonly readAgain: () => Promise<Settings>;
}

/** Keeps an engine running, and gives it the configuration whenever that is read again. @throws StateRefused */
export async function supervise(options: SupervisorOptions): Promise<Supervisor> {
  const supervisor = new Supervisor(options);
  await supervisor.start();
  return supervisor;
}

class Supervisor {
  readonly #options: SupervisorOptions;
  #settings: Settings;
  #lastReload: LastReload;
  /** When the operator last started or reloaded the program. */
  #operatorAt: UnixMs;
  #engine!: Engine;
  /** Starts, reloads and stops one after the other. */
  #queue: Promise<unknown> = Promise.resolve();
  /** The reload that has not started. */
  #upcoming: Promise<string | undefined> | undefined;
  readonly #stopping = new AbortController();
  readonly #read: () => Promise<Settings>;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#read = limitedReading(options.readAgain, options.clock, this.#stopping.signal);
    this.#settings = options;
    this.#operatorAt = options.clock.now();
    this.#lastReload = { isSuccessful: true, successAt: this.#operatorAt };
  }

  async start(): Promise<void> {
    const { log, replica } = this.#options;
    await this.#start();
    replica?.start(() => {
      if (this.#stopping.signal.aborted) return;
      const changed = this.#inTurn(() => this.#changeRole());
      changed.catch((error: unknown) => log.error({ err: String(error) }, 'role not changed'));
    });
  }

  /** The running engine; while it is replaced, the previous one. */
  engine(): Engine {
    return this.#engine;
  }

  /**
   * Reads the settings again; calls made before the reading begins share it. Returns undefined if they now apply, else the
   * reason why nothing has changed.
   */
  reload(): Promise<string | undefined> {
    this.#upcoming ??= this.#inTurn(async () => {
      this.#upcoming = undefined;
      return this.#stopping.signal.aborted ? 'stopping' : this.#reload();
    });
    return this.#upcoming;
  }

  stop(): Promise<void> {
    this.#stopping.abort(new Error('stopping'));
    return this.#inTurn(async () => {
      await this.#engine.stop();
    });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#queue.then(work);
    this.#queue = turn.catch(() => undefined);
    return turn;
  }

  async #start(before?: State): Promise<void> {
    const lastReload = (): LastReload => this.#lastReload;
    const given = { ...this.#options, ...this.#settings, lastReload, operatorAt: this.#operatorAt };
    this.#engine = await startEngine({ ...given, ...(before && { before }) });
  }

  /** The lease was gained or lost. */
  async #changeRole(): Promise<void> {
    const { log, replica } = this.#options;
    const known = await this.#engine.stop();
    try {
      await this.#start(known);
    } catch (error) {
      // Only a leader reads the stored state, which may fail.
      log.error({ err: String(error) }, 'cannot lead');
      replica?.resign();
      await this.#start(known);
    }
  }

  async #reload(): Promise<string | undefined> {
    const { clock, log } = this.#options;
    const { successAt } = this.#lastReload;
    try {
      const next = await this.#read();
      assertNoRestartNeeded(this.#settings, next);
      const changed = isChange(this.#settings, next);
      // Set before the first scrape that can show the new settings.
      this.#lastReload = { isSuccessful: true, successAt: clock.now() };
      await this.#apply(next, changed);
      log.level = next.config.log.level;
      // The client that requested the reload may scrape next.
      await this.#engine.touch();
      log.info({ changed }, 'configuration reloaded');
      return undefined;
    } catch (error) {
      if (this.#stopping.signal.aborted) return 'stopping';
      this.#lastReload = { isSuccessful: false, successAt };
      await this.#engine.touch();
      const why = error instanceof Error ? error.message : String(error);
      log.error({ err: why }, 'configuration not reloaded');
      return why;
    }
  }

  /** Unchanged settings are adopted too: after a revocation, that permits one request. */
  async #apply(next: Settings, isChanged: boolean): Promise<void> {
    this.#operatorAt = this.#options.clock.now();
    if (this.#engine.adopt) await this.#engine.adopt(next, this.#operatorAt);
    else if (isChanged) await this.#exchange(next);
    this.#settings = next;
  }

  async #exchange(next: Settings): Promise<void> {
    const known = await this.#engine.stop();
    const before = this.#settings;
    this.#settings = next;
    try {
      await this.#start(known);
    } catch (error) {
      this.#settings = before;
      await this.#start(known);
      throw error;
    }
  }
}
