import { isDeepStrictEqual } from 'node:util';
import { type Engine, type EngineOptions, type Settings, startEngine } from './engine.ts';
import { startFollower } from './follower.ts';
import type { LastReload } from './own-families.ts';
import type { Restored } from './state.ts';

export interface SupervisorOptions extends Omit<EngineOptions, 'lastReload' | 'before' | 'operatorAt'> {
  /** Reads the settings as they are now. @throws Error that says what is wrong with them */
  readonly readAgain: () => Promise<Settings>;
}

/** Keeps one engine running, and exchanges it when the configuration is read again. */
export interface Supervisor {
  /** The one that runs now; while it is exchanged, the one before. */
  engine(): Engine;
  /** Resolves when the new settings hold. @throws Error that says why they do not: then nothing has changed */
  reload(): Promise<void>;
  stop(): Promise<void>;
}

/** What the process was started with and cannot exchange. */
export class NeedsRestart extends Error {
  override readonly name = 'NeedsRestart';

  constructor(setting: string) {
    super(`${setting} has changed, which takes a restart`);
  }
}

/** @throws StateRefused */
export async function supervise(options: SupervisorOptions): Promise<Supervisor> {
  const { clock, log, readAgain, replica } = options;
  let settings: Settings = options;
  let lastReload: LastReload = { isSuccessful: true, successAt: clock.now() };
  let operatorAt = clock.now();
  let engine = await start();
  /** A reload waits for the one before. */
  let queue: Promise<unknown> = Promise.resolve();

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

  async function reload(): Promise<void> {
    const { successAt } = lastReload;
    try {
      const next = await readAgain();
      refuseWhatStays(settings, next);
      // Before the exchange, so that the first scrape of the new engine says so.
      lastReload = { isSuccessful: true, successAt: clock.now() };
      operatorAt = clock.now();
      await exchange(next);
      log.level = next.config.log.level;
      log.info('configuration reloaded');
    } catch (error) {
      lastReload = { isSuccessful: false, successAt };
      throw error;
    } finally {
      // Who asked for the reload may scrape next.
      await engine.touch();
    }
  }

  function inTurn(work: () => Promise<void>): Promise<void> {
    const turn = queue.then(work);
    queue = turn.catch(() => undefined);
    return turn;
  }

  let isStopped = false;
  replica?.start(() => {
    if (isStopped) return;
    inTurn(changeRole).catch((error: unknown) => log.error({ err: String(error) }, 'role not changed'));
  });
  return {
    engine: () => engine,
    reload: () => inTurn(reload),
    stop: () => {
      isStopped = true;
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
