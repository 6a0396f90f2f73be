import { isDeepStrictEqual } from 'node:util';
import { type Engine, type EngineOptions, isChange, type Settings, startEngine } from './engine.ts';
import { startFollower } from './follower.ts';
import type { LastReload } from './own-families.ts';
import { limitedReading } from './reading.ts';
import type { Restored } from './state.ts';

export interface SupervisorOptions extends Omit<EngineOptions, 'lastReload' | 'before' | 'operatorAt'> {
  /** Reads the settings as they are now. @throws Error that says what is wrong with them */
  readonly readAgain: () => Promise<Settings>;
}

/** Keeps an engine running, and has it go on with the configuration as it is read again. */
export interface Supervisor {
  /** The one that runs now; while it is exchanged, the one before. */
  engine(): Engine;
  /**
   * Reads the settings again, after this was called; those that call meanwhile share one reading. Undefined: they hold; else
   * why they do not, and then nothing has changed.
   */
  reload(): Promise<string | undefined>;
  stop(): Promise<void>;
}

/** What the process was started with and cannot exchange. */
class NeedsRestart extends Error {
  override readonly name = 'NeedsRestart';

  constructor(setting: string) {
    super(`${setting} has changed, which takes a restart`);
  }
}

/** @throws StateRefused */
export async function supervise(options: SupervisorOptions): Promise<Supervisor> {
  const { clock, log, replica } = options;
  let settings: Settings = options;
  let lastReload: LastReload = { isSuccessful: true, successAt: clock.now() };
  let operatorAt = clock.now();
  let engine = await start();
  /** One thing at a time. */
  let queue: Promise<unknown> = Promise.resolve();
  /** The reload that has not begun. */
  let upcoming: Promise<string | undefined> | undefined;
  const stopping = new AbortController();
  const read = limitedReading(options.readAgain, clock, stopping.signal);

  function start(before?: Restored): Promise<Engine> {
    const next = { ...options, ...settings, lastReload: () => lastReload, operatorAt, ...(before && { before }) };
    return replica && !replica.leads() ? startFollower(next, replica) : startEngine(next);
  }

  /** The lease came or went. */
  async function changeRole(): Promise<void> {
    const known = await engine.stop();
    try {
      engine = await start(known);
    } catch (error) {
      // Only to lead takes more than what is known.
      log.error({ err: String(error) }, 'not able to lead');
      replica?.resign();
      engine = await start(known);
    }
  }

  async function exchange(next: Settings): Promise<void> {
    const known = await engine.stop();
    const before = settings;
    settings = next;
    try {
      engine = await start(known);
    } catch (error) {
      settings = before;
      engine = await start(known);
      throw error;
    }
  }

  /** Also of settings that are the same: an account whose access was revoked may then be asked once. */
  async function take(next: Settings, isChanged: boolean): Promise<void> {
    operatorAt = clock.now();
    if (engine.adopt) await engine.adopt(next, operatorAt);
    else if (isChanged) await exchange(next);
    settings = next;
  }

  async function reload(): Promise<string | undefined> {
    const { successAt } = lastReload;
    try {
      const next = await read();
      refuseWhatStays(settings, next);
      const changed = isChange(settings, next);
      // Before the first scrape that shows the settings.
      lastReload = { isSuccessful: true, successAt: clock.now() };
      await take(next, changed);
      log.level = next.config.log.level;
      // Who asked for the reload may scrape next.
      await engine.touch();
      log.info({ changed }, 'configuration reloaded');
      return undefined;
    } catch (error) {
      if (stopping.signal.aborted) return 'stopping';
      lastReload = { isSuccessful: false, successAt };
      await engine.touch();
      const why = error instanceof Error ? error.message : String(error);
      log.error({ err: why }, 'configuration not reloaded');
      return why;
    }
  }

  function nextReload(): Promise<string | undefined> {
    upcoming ??= inTurn(async () => {
      upcoming = undefined;
      return stopping.signal.aborted ? 'stopping' : reload();
    });
    return upcoming;
  }

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = queue.then(work);
    queue = turn.catch(() => undefined);
    return turn;
  }

  replica?.start(() => {
    if (stopping.signal.aborted) return;
    inTurn(changeRole).catch((error: unknown) => log.error({ err: String(error) }, 'role not changed'));
  });
  return {
    engine: () => engine,
    reload: nextReload,
    stop: () => {
      stopping.abort(new Error('stopping'));
      return inTurn(async () => {
        await engine.stop();
      });
    },
  };
}

function refuseWhatStays({ config: now }: Settings, { config: next }: Settings): void {
  const stays = {
    'web.listen_address': [now.web.listenAddress, next.web.listenAddress],
    'web.telemetry_path': [now.web.telemetryPath, next.web.telemetryPath],
    'web.config_file': [now.web.configFile, next.web.configFile],
    state: [now.state, next.state],
    'log.format': [now.log.format, next.log.format],
  };
  for (const [setting, [before, after]] of Object.entries(stays)) {
    if (!isDeepStrictEqual(before, after)) throw new NeedsRestart(setting);
  }
}
