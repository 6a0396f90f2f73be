import { addAbortListener } from 'node:events';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { StateRefused } from '../exporter/state.ts';
import { REVISION, VERSION } from '../facts/version.ts';
import { type LoadedConfig, loadConfig } from '../sources/registry.ts';
import { helpText, UsageError } from '../toolkit/flags/flags.ts';
import { systemClock, within } from '../toolkit/lib/clock.ts';
import { LineOutput } from '../toolkit/lib/line-output.ts';
import { type Logger, openLogger } from '../toolkit/lib/log.ts';
import type { Access } from '../toolkit/web/access.ts';
import type { WebConfig } from '../toolkit/web/web-config.ts';
import type { Environment } from '../toolkit/yaml/document.ts';
import { ConfigError } from '../toolkit/yaml/mistakes.ts';
import { type Command, PROGRAM, parseCommand } from './flag-table.ts';
import { useAllCompilers } from './memory.ts';
import { CommandRefused, isListenError, listenRefusal } from './refusals.ts';
import { type Running, type Start, serve } from './serve.ts';

const EXIT = { stopped: 0, understood: 0, refused: 1, usage: 2, addressTaken: 3, partly: 4, notSafe: 5 } as const;

/** The whole process shares one output, so that its lines stay in order. */
const logOutput = new LineOutput(process.stdout.fd);

/** A stop takes at most five seconds in all. */
const STOP_WITHIN_MS = 4_500;
/** How long a start may continue after a signal. Then the log may take two more seconds. */
const START_WITHIN_MS = 1_000;
/** How long a process may take to end after its command. */
const END_WITHIN_MS = 1_000;

/** Runs one command and returns its exit code. Loads only the modules of that command. */
export async function runProgram(argv: readonly string[], env: Environment, stop: AbortSignal): Promise<number> {
  const code = await exitCodeOf(argv, env, stop);
  setTimeout(() => leave(code), END_WITHIN_MS).unref();
  return code;
}

async function exitCodeOf(argv: readonly string[], env: Environment, stop: AbortSignal): Promise<number> {
  try {
    const command = parseCommand(argv, env);
    if ('flags' in command) return await runCommand(command, env, stop);
    const version = `beaconchain-exporter ${VERSION}${REVISION && ` (${REVISION})`}\n`;
    process.stdout.write(command.name === 'help' ? helpText(PROGRAM, command.command) : version);
    return EXIT.stopped;
  } catch (error) {
    if (error instanceof UsageError) return endWith(error.message, EXIT.usage);
    if (isListenError(error)) {
      return endWith(listenRefusal(error), error.code === 'EADDRINUSE' ? EXIT.addressTaken : EXIT.refused);
    }
    const isRefusal = [ConfigError, StateRefused, CommandRefused].some((refusal) => error instanceof refusal);
    if (error instanceof Error && isRefusal) return endWith(error.message, EXIT.refused);
    throw error;
  } finally {
    await logOutput.end();
  }
}

type Flagged = Extract<Command, { flags: unknown }>;

async function runCommand({ name, flags, overrides }: Flagged, env: Environment, stop: AbortSignal): Promise<number> {
  let opened: Logger | undefined;
  addAbortListener(stop, () => (name === 'check' ? endBy(stop.reason) : endInTime(() => opened)));
  const isOffline = name === 'demo' || name === 'sandbox';
  const keyless = isOffline || (flags['without-key'] ?? false);
  const read = () => loadConfig({ file: flags['config.file'], overrides, env, keyless, isOffline });
  const given = await read();
  const log = await openLogger(given.config.log, logOutput);
  opened = log;
  if (name === 'check') {
    const { runCheck } = await import('./check.ts');
    return EXIT[await runCheck(flags, given, log)];
  }
  if (name === 'backfill') {
    useAllCompilers();
    const { runBackfill } = await import('./backfill.ts');
    await runBackfill({ ...given, flags, log, signal: stop });
    return EXIT.stopped;
  }
  const settings = warned(given, log);
  const readAgain = async () => warned(await read(), log);
  const start = { flags, settings, readAgain, proxies: given.proxies, log, output: logOutput };
  return untilStopped((onLost) => begin(name, start, onLost), log, stop);
}

/** Logs the warnings about settings, at the start and at each reload. */
function warned(settings: LoadedConfig, log: Logger): LoadedConfig {
  for (const { place, line, path, message } of settings.warnings) {
    const fields = { file: place, line, setting: path, problem: message };
    log.warn(fields, 'a setting is unsafe or does not work as intended');
  }
  return settings;
}

async function begin(
  name: 'serve' | 'demo' | 'sandbox',
  given: Omit<Start, 'access'>,
  onLost: (error: Error) => void,
): Promise<Running> {
  const start = { ...given, access: await accessBy(given.settings.webConfig, given.log) };
  if (name === 'serve') return serve(start, onLost);
  const { demo, sandbox } = await import('./demo.ts');
  return name === 'demo' ? demo(start) : sandbox(start);
}

async function accessBy(webConfig: WebConfig | undefined, log: Logger): Promise<Access | undefined> {
  if (!webConfig) return undefined;
  const { Access } = await import('../toolkit/web/access.ts');
  return new Access(webConfig, systemClock, log);
}

/**
 * Runs until the stop, which may come during the start, or until the state is lost. SIGHUP reloads the configuration. A
 * command without a reload ends, as when its terminal is closed.
 */
async function untilStopped(
  begin: (onLost: (error: Error) => void) => Promise<Running>,
  log: Logger,
  stop: AbortSignal,
): Promise<number> {
  const { promise: stopped, resolve } = Promise.withResolvers<Error | undefined>();
  addAbortListener(stop, () => {
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
    const hungUp = (running: Running) => (running.reload ? running.reload() : process.kill(process.pid, 'SIGTERM'));
    starting.then(hungUp).catch(() => undefined);
  });
  // A start may wait minutes for a name server. A late one has nothing to save, but gives back the lease.
  const stopLate = (): undefined => void starting.then((running) => running.stop()).catch(() => undefined);
  const cut = stopped.then(() => within(systemClock, START_WITHIN_MS, starting, stopLate));
  const running = await Promise.race([starting, cut]).catch((error) => {
    if (!stop.aborted) throw error;
  });
  const why = await stopped;
  await running?.stop();
  return why ? await endWith(why.message, EXIT.refused) : EXIT.stopped;
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
  // An update may have removed the file from which Node was started, and an execve that fails aborts the process.
  const node = ['/proc/self/exe', process.execPath].find((file) => existsSync(file));
  if (node) process.execve?.(node, [node, '--eval', `process.exit(${code})`], {});
  process.exit(code);
}

/** As if nothing handled the signal. `process.exit` waits for threads that read files, which may hang on a broken disk. */
function endBy(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // Process 1 has no other way.
  process.exit(128 + constants.signals[signal]);
}

async function endWith(message: string, code: number): Promise<number> {
  const output = new LineOutput(process.stderr.fd);
  output.write(`${message.trimEnd()}\n`);
  await output.end();
  return code;
}
