import type { RequestListener } from 'node:http';
import type { Environment } from '../config/document.ts';
import { loadConfig } from '../config/load.ts';
import { ConfigError, describeMistake, type Mistake } from '../config/mistakes.ts';
import type { Settings } from '../exporter/settings.ts';
import { openDocuments, StateRefused } from '../exporter/state.ts';
import { systemClock } from '../lib/clock.ts';
import { type Logger, openLogger } from '../lib/log.ts';
import type { Proxies } from '../lib/proxies.ts';
import { REVISION, VERSION } from '../lib/version.ts';
import { directoryProblem } from '../state/trial.ts';
import type { Access } from '../web/access.ts';
import { createServer } from '../web/server.ts';
import type { WebConfig } from '../web/web-config.ts';
import type { Flags } from './flag-table.ts';
import { type Command, helpText, parseCommand, UsageError } from './flags.ts';
import { useAllCompilers } from './memory.ts';
import { CommandRefused, isListenError, listenRefusal } from './refusals.ts';
import { startDaemon } from './serve.ts';
import { warningLog } from './warning-log.ts';

type Running = { stop(): Promise<void>; reload?(): Promise<unknown> };
type Given = Settings & {
  readonly proxies: Proxies | undefined;
  readonly doubts: readonly Mistake[];
};
type Flagged = Extract<Command, { flags: unknown }>;

const EXIT = { stopped: 0, refused: 1, usage: 2, addressTaken: 3, partly: 4, notSafe: 5 } as const;
const EXIT_OF_VERDICT = { understood: EXIT.stopped, refused: EXIT.refused, partly: EXIT.partly };

/** The interface promises five seconds. */
const STOP_WITHIN_MS = 4_500;

/** Runs one command to its end and returns its exit code. Only the code of that command is loaded. */
export async function runProgram(argv: readonly string[], env: Environment): Promise<number> {
  try {
    const command = parseCommand(argv, env);
    if ('flags' in command) return await runCommand(command, env);
    print(command.name === 'help' ? helpText(command.command) : versionText());
    return EXIT.stopped;
  } catch (error) {
    if (error instanceof UsageError) return refuse(error.message, EXIT.usage);
    if (isListenError(error)) {
      return refuse(listenRefusal(error), error.code === 'EADDRINUSE' ? EXIT.addressTaken : EXIT.refused);
    }
    const isRefusal = [ConfigError, StateRefused, CommandRefused].some((refusal) => error instanceof refusal);
    if (error instanceof Error && isRefusal) return refuse(error.message, EXIT.refused);
    throw error;
  }
}

async function runCommand(command: Flagged, env: Environment): Promise<number> {
  const { name, flags } = command;
  const given = await readSettings(command, env);
  if (name === 'backfill') return runBackfill(flags, given);
  if (name === 'check') return runCheck(flags, given);
  const log = await openLogger(given.config.log);
  const warn = warningLog(log);
  warn(given.doubts);
  const readAgain = async (): Promise<Settings> => {
    const again = await readSettings(command, env);
    warn(again.doubts);
    return again;
  };
  return untilStopped((onLost) => start(command, given, readAgain, log, onLost), log);
}

async function readSettings({ name, flags, overrides }: Flagged, env: Environment): Promise<Given> {
  const keyless = name === 'demo' || name === 'sandbox';
  let webConfig: WebConfig | undefined;
  const loaded = await loadConfig({
    file: flags['config.file'],
    overrides,
    env,
    keyless,
    needsKey: !keyless,
    checkWebConfig: async (file) => {
      const { readWebConfig } = await import('../web/web-config.ts');
      try {
        webConfig = await readWebConfig(file);
        return [];
      } catch (error) {
        if (error instanceof ConfigError) return error.mistakes;
        throw error;
      }
    },
    ...(name === 'check' && { checkState: directoryProblem }),
  });
  const { config, key = '', proxies, warnings } = loaded;
  return { config, key, proxies, webConfig, doubts: warnings };
}

async function runCheck(flags: Flags, given: Given): Promise<number> {
  const { config, key, proxies, doubts } = given;
  const restart = flags['safe-to-restart'];
  if (restart !== undefined) {
    const { askSafeToRestart } = await import('./safe-to-restart.ts');
    const { isSafe, reason } = await askSafeToRestart({ settings: given, proxies }, restart);
    print(`${reason}\n`);
    return isSafe ? EXIT.stopped : EXIT.notSafe;
  }
  const { check } = await import('./check.ts');
  const { mayProbe, probe } = await import('./probe/probe.ts');
  const { verdictOf } = await import('./probe/report.ts');
  const log = await openLogger(config.log);
  const warnings = doubts.map((doubt) => `Warning: ${describeMistake(doubt)}`);
  const isAsked = flags.probe && (await mayProbe(config, flags.yes ?? false));
  const now = systemClock.now();
  const probed = isAsked ? await probe(given, proxies, now) : undefined;
  print(await check({ config, key, log, probe: probed, warnings, now }));
  return probed ? EXIT_OF_VERDICT[verdictOf(probed)] : EXIT.stopped;
}

/** Runs until it is done or stopped. If it is stopped, the data read so far are kept. */
async function runBackfill(flags: Flags, settings: Given): Promise<number> {
  const { config } = settings;
  const abort = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      abort.abort(new Error('stopping'));
      endInTime();
    });
  }
  useAllCompilers();
  const { backfill, stoppedText } = await import('./backfill.ts');
  const log = await openLogger(config.log);
  const terminal = process.stderr;
  try {
    print(await backfill({ ...settings, flags, log, clock: systemClock, terminal, signal: abort.signal }));
  } catch (error) {
    if (!abort.signal.aborted) throw error;
    terminal.write(stoppedText(flags));
  }
  return EXIT.stopped;
}

async function start(
  { name, flags }: Flagged,
  { config, key, proxies, webConfig }: Given,
  readAgain: () => Promise<Settings>,
  log: Logger,
  onLost: (error: Error) => void,
): Promise<Running> {
  const access = webConfig && (await accessBy(webConfig, log));
  const hasLifecycle = flags['web.enable-lifecycle'] ?? true;
  const processMetrics = !flags['web.disable-exporter-metrics'];
  if (name === 'sandbox') {
    const [{ host = '0.0.0.0', port } = { port: 0 }, another] = config.web.listenAddresses;
    if (another) throw new UsageError('the sandbox listens on one address: expected a single --web.listen-address');
    const create = (listener: RequestListener) => createServer(listener, access);
    const { startSandbox } = await import('../sandbox/server.ts');
    const sandbox = await startSandbox({ host, port, clock: systemClock, createServer: create });
    const url = access?.isTls ? sandbox.url.replace('http:', 'https:') : sandbox.url;
    log.info({ url, hoodi: `${url}/hoodi`, key: sandbox.sandbox.key }, 'simulated service');
    return { stop: () => sandbox.close().then(() => access?.close()) };
  }
  const settings = { config, key, webConfig };
  const exporter = { settings, readAgain, clock: systemClock, log, proxies, processMetrics };
  if (name === 'demo') {
    const isDefault = flags['config.file'] === undefined;
    const { startDemo } = await import('./demo.ts');
    return startDemo({
      exporter,
      hasLifecycle,
      access,
      isDefault,
      sandboxFlag: flags['sandbox.listen-address'],
      print,
    });
  }
  if (proxies) log.info(namesOf(proxies), 'using a proxy');
  const documents = await openDocuments(config.state, log, onLost);
  return startDaemon({ exporter: { ...exporter, ...documents }, hasLifecycle, access });
}

async function accessBy(webConfig: WebConfig, log: Logger): Promise<Access> {
  const { Access } = await import('../web/access.ts');
  return new Access(webConfig, systemClock, log);
}

/**
 * Waits for SIGTERM or SIGINT, which may come during the start, or for the loss of the state, and then for an orderly stop.
 * SIGHUP reloads the configuration, after the start.
 */
async function untilStopped(begin: (onLost: (error: Error) => void) => Promise<Running>, log: Logger): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals | Error>();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, resolve);
  const starting = begin(resolve);
  const stopped = promise.then((why) => {
    if (typeof why === 'string') log.info({ signal: why }, 'stopping');
    endInTime(() => log.error('not stopped in time'));
    return why;
  });
  process.on('SIGHUP', () => {
    // A failed start is reported once, below.
    starting.then((running) => running.reload?.()).catch(() => undefined);
  });
  const running = await starting;
  const why = await stopped;
  await running.stop();
  return typeof why === 'string' ? EXIT.stopped : refuse(why.message, EXIT.refused);
}

/**
 * Kills the process if it has not ended by itself. `process.exit` would wait for the threads that read files, which may
 * hang on a disk that does not answer.
 */
function endInTime(before?: () => void): void {
  setTimeout(() => {
    before?.();
    process.kill(process.pid, 'SIGKILL');
  }, STOP_WITHIN_MS).unref();
}

/** The proxies without their user names and passwords. */
function namesOf({ http, https }: Proxies): { http?: string; https?: string } {
  return { ...(http && { http: new URL(http).host }), ...(https && { https: new URL(https).host }) };
}

function versionText(): string {
  return `beaconchain-exporter ${VERSION}${REVISION && ` (${REVISION})`}\n`;
}

function print(text: string): void {
  process.stdout.write(text);
}

function refuse(message: string, code: number): number {
  process.stderr.write(`${message.trimEnd()}\n`);
  return code;
}
