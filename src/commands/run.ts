import type { RequestListener } from 'node:http';
import { constants } from 'node:os';
import type { Environment } from '../config/document.ts';
import { loadConfig } from '../config/load.ts';
import { ConfigError, describeMistake, type Mistake } from '../config/mistakes.ts';
import type { Settings } from '../exporter/settings.ts';
import { openDocuments, StateRefused } from '../exporter/state.ts';
import { systemClock, within } from '../lib/clock.ts';
import { LineOutput } from '../lib/line-output.ts';
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

/** One for the process: its lines stay in order. */
const logOutput = new LineOutput(process.stdout.fd);

/** The interface promises five seconds. */
const STOP_WITHIN_MS = 4_500;
/** How long a start may continue after a signal. Then the log may take two more seconds. */
const START_WITHIN_MS = 1_000;
/** How long a process may take to end after its command. */
const END_WITHIN_MS = 1_000;

/** Runs one command to its end and returns its exit code. Only the code of that command is loaded. */
export async function runProgram(argv: readonly string[], env: Environment, stop: AbortSignal): Promise<number> {
  const code = await exitCodeOf(argv, env, stop);
  setTimeout(() => leave(code), END_WITHIN_MS).unref();
  return code;
}

async function exitCodeOf(argv: readonly string[], env: Environment, stop: AbortSignal): Promise<number> {
  try {
    const command = parseCommand(argv, env);
    if ('flags' in command) return await runCommand(command, env, stop);
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
  } finally {
    await logOutput.end();
  }
}

async function runCommand(command: Flagged, env: Environment, stop: AbortSignal): Promise<number> {
  const { name, flags } = command;
  let log: Logger | undefined;
  whenAborted(stop, () => (name === 'check' ? endBy(stop.reason) : endInTime(() => log)));
  const given = await readSettings(command, env);
  if (name === 'backfill') return runBackfill(flags, given, stop);
  if (name === 'check') return runCheck(flags, given);
  log = await openLogger(given.config.log, logOutput);
  const warn = warningLog(log);
  warn(given.doubts);
  const readAgain = async (): Promise<Settings> => {
    const again = await readSettings(command, env);
    warn(again.doubts);
    return again;
  };
  return untilStopped((onLost) => start(command, given, readAgain, log, onLost), log, stop);
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
  const { expectNewFile, publicReportOf, writeReport } = await import('./probe/public-report.ts');
  const { verdictOf } = await import('./probe/report.ts');
  const log = await openLogger(config.log, logOutput);
  const warnings = doubts.map((doubt) => `Warning: ${describeMistake(doubt)}`);
  const { report } = flags;
  if (report !== undefined) {
    if (!flags.probe) throw new UsageError('--report requires --probe');
    await expectNewFile(report);
  }
  const isAsked = flags.probe && (await mayProbe(config, flags.yes ?? false));
  const now = systemClock.now();
  const probed = isAsked ? await probe(given, proxies, now) : undefined;
  print(await check({ config, key, log, probe: probed, warnings, now }));
  if (probed && report !== undefined) print(await writeReport(report, publicReportOf(probed.exchanges, given)));
  return probed ? EXIT_OF_VERDICT[verdictOf(probed)] : EXIT.stopped;
}

/** Runs until it is done or stopped. If it is stopped, the data read so far are kept. */
async function runBackfill(flags: Flags, settings: Given, signal: AbortSignal): Promise<number> {
  useAllCompilers();
  const { backfill, stoppedText } = await import('./backfill.ts');
  const log = await openLogger(settings.config.log, logOutput);
  const terminal = process.stderr;
  terminal.on('error', () => undefined);
  try {
    print(await backfill({ ...settings, flags, log, clock: systemClock, terminal, signal }));
  } catch (error) {
    if (!signal.aborted) throw error;
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
  const exporter = { settings, readAgain, clock: systemClock, log, proxies, processMetrics, output: logOutput };
  if (name === 'demo') {
    const isDefault = flags['config.file'] === undefined;
    const { startDemo } = await import('./demo.ts');
    return startDemo({
      exporter,
      hasLifecycle,
      access,
      isDefault,
      sandboxFlag: flags['sandbox.listen-address'],
      print: (text) => logOutput.write(text),
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
 * Waits for the stop, which may come during the start, or for the loss of the state, and then for an orderly stop. SIGHUP
 * reloads the configuration, after the start.
 */
async function untilStopped(
  begin: (onLost: (error: Error) => void) => Promise<Running>,
  log: Logger,
  stop: AbortSignal,
): Promise<number> {
  const { promise: stopped, resolve } = Promise.withResolvers<Error | undefined>();
  whenAborted(stop, () => {
    log.info({ signal: stop.reason }, 'stopping');
    resolve(undefined);
  });
  if (stop.aborted) return EXIT.stopped;
  const starting = begin((error) => {
    endInTime(() => log);
    resolve(error);
  });
  process.on('SIGHUP', () => {
    // A failed start is reported once, below.
    starting.then((running) => running.reload?.()).catch(() => undefined);
  });
  // A start may wait for a name for minutes. It has nothing to save, but it may get the lease.
  const stopLate = (): undefined => void starting.then((running) => running.stop()).catch(() => undefined);
  const cut = stopped.then(() => within(systemClock, START_WITHIN_MS, starting, stopLate));
  const running = await Promise.race([starting, cut]).catch((error) => {
    if (!stop.aborted) throw error;
  });
  const why = await stopped;
  await running?.stop();
  return why ? await refuse(why.message, EXIT.refused) : EXIT.stopped;
}

/** Calls it when the signal aborts, or now if it has aborted. */
function whenAborted(signal: AbortSignal, act: () => void): void {
  if (signal.aborted) act();
  else signal.addEventListener('abort', act);
}

/** Kills the process if it has not ended by itself. */
function endInTime(log: () => Logger | undefined): void {
  setTimeout(() => {
    log()?.error('not stopped in time');
    endBy('SIGKILL');
  }, STOP_WITHIN_MS).unref();
}

/**
 * Ends the process at once. `process.exit` waits for the threads of Node, and the look-up of a name holds one until a name
 * server answers. A new program in its place (execve) ends all threads.
 */
function leave(code: number): void {
  process.execve?.(process.execPath, [process.execPath, '--eval', `process.exit(${code})`], {});
  process.exit(code);
}

/** As if nothing handled the signal. `process.exit` waits for threads that read files, which may hang on a broken disk. */
function endBy(signal: NodeJS.Signals): void {
  process.kill(process.pid, signal);
  // Process 1 has no other way.
  process.exit(128 + constants.signals[signal]);
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

async function refuse(message: string, code: number): Promise<number> {
  const output = new LineOutput(process.stderr.fd);
  output.write(`${message.trimEnd()}\n`);
  await output.end();
  return code;
}
