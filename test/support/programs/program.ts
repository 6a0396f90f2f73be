import { type ChildProcess, spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { expect, vi } from 'vitest';
import { seriesValue } from '../exposition/exposition-text.ts';
import { SOURCES } from '../exposition/scraped-metrics.ts';
import { configFile, temporaryFolder } from '../files/files.ts';
import { scrape } from '../network/ask.ts';
import { atTheEnd } from '../vitest/cleanup.ts';

/** `npm test` starts the program as it is published, in half the time of the source. */
export const MAIN = resolve(process.env['PROGRAM'] ?? join(import.meta.dirname, '../../../src/main.ts'));

/** Variables for paths, for Go, for libfaketime and for the locale. */
const INHERITED = /^(PATH|GOGC|LD_PRELOAD|FAKETIME\w*|TZ|LANG|LC_ALL)$/;

/** The environment of a started program. It inherits only what it needs, because the rest may contain keys. */
export const SURROUNDINGS: NodeJS.ProcessEnv = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => INHERITED.test(name))),
  // The tests start hundreds of processes. With the compile cache each start takes half the time.
  NODE_COMPILE_CACHE: join(import.meta.dirname, '../../../node_modules/.cache/compiled'),
  // Several demos run at once.
  BEACONCHAIN_EXPORTER_SANDBOX_LISTEN_ADDRESS: '127.0.0.1:0',
  BEACONCHAIN_EXPORTER_PROMETHEUS: 'false',
};

/** The environment of a Node program that runs this code first. */
export function preloaded(code: string): NodeJS.ProcessEnv {
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
}

/** The environment of a Node program whose wall clock is ahead. The program reads it only with `Date.now`. */
export function ahead(ms: number): NodeJS.ProcessEnv {
  return preloaded(`const { now } = Date; Date.now = () => now() + ${ms};`);
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process that a test started, and its output so far. */
export class Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  stdout = '';
  stderr = '';

  constructor(child: ChildProcess) {
    this.child = child;
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    // `close` comes after the last output. `exit` may come before it.
    this.ended = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => resolve({ code, signal }));
    });
  }

  get output(): string {
    return this.stdout + this.stderr;
  }

  /** All log lines with this message. */
  lines(message: string): Record<string, unknown>[] {
    const lines = this.stdout.split('\n').filter((line) => line.startsWith('{') && line.endsWith('}'));
    return lines.map((line): Record<string, unknown> => JSON.parse(line)).filter(({ msg }) => msg === message);
  }

  /** Waits for the first log line with this message. */
  async line(message: string): Promise<Record<string, unknown>> {
    const [line = {}] = await waitFor(() => {
      const lines = this.lines(message);
      if (lines.length === 0) throw new Error(`no line "${message}" in:\n${this.output}`);
      return lines;
    });
    return line;
  }

  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended> {
    this.child.kill(signal);
    return this.ended;
  }
}

/** The only wait for what real time brings: repeats the attempt until it does not throw. The limit allows for a busy machine. */
export function waitFor<T>(attempt: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(attempt, { timeout: 120_000, interval: 50 });
}

/** Starts a program. It is killed after the tests of the file. */
export function start(
  command: string,
  args: readonly string[],
  { output = 'pipe', ...options }: { cwd?: string; env?: NodeJS.ProcessEnv; output?: number | 'pipe' } = {},
): Running {
  const running = new Running(spawn(command, args, { ...options, stdio: ['ignore', output, output] }));
  atTheEnd(async () => {
    running.child.kill('SIGKILL');
    await running.ended;
  });
  return running;
}

/**
 * Starts the exporter in an empty folder, with only these variables and the inherited ones.
 * @param output the descriptor to which it writes; default: what it writes is kept
 */
export function startExporter(args: readonly string[], env: NodeJS.ProcessEnv = {}, output?: number): Running {
  const options = { cwd: temporaryFolder(), env: { ...SURROUNDINGS, ...env }, ...(output !== undefined && { output }) };
  return start(process.execPath, [MAIN, ...args], options);
}

/** Runs the exporter to its end. */
export async function ran(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const program = startExporter(args, env);
  const { code } = await program.ended;
  return { code, stdout: program.stdout, stderr: program.stderr };
}

/** The sections of a configuration with which the exporter asks this service. @param api More fields of the section `api` */
export function asking(url: string, api = ''): string {
  return `api: {base_url: "${url}"${api}}\nchains: {mainnet: {v1_base_url: "${url}"}}\n`;
}

/** On a free port. */
export const ANY_PORT = '--web.listen-address=127.0.0.1:0';

/** The arguments of a daemon on a free port that logs all levels as JSON. */
export function serveArgs(file: string): string[] {
  return ['serve', `--config.file=${file}`, ANY_PORT, '--log.level=debug', '--log.format=json'];
}

/** Starts a daemon with this configuration. */
export function startServe(config: string, key: string, env: NodeJS.ProcessEnv = {}): Running {
  return startExporter(serveArgs(configFile(config)), { BEACONCHAIN_API_KEY: key, ...env });
}

/** The port on which a started daemon listens. */
export async function portOf(program: Running): Promise<number> {
  return Number((await program.line('listening'))['port']);
}

/** The port at which the sandbox of a demo takes orders and alerts. */
export function ordersPort(demo: Running): Promise<string> {
  return waitFor(() => /localhost:(\d+)\/alerts are printed/.exec(demo.stdout)?.[1] ?? expect.fail(demo.output));
}

/** Waits until every source is up. Returns the metrics. */
export function allUp(port: number): Promise<string> {
  return waitFor(async () => {
    const text = await scrape(port);
    for (const source of SOURCES) expect(seriesValue(text, 'beaconchain_source_up', { source }), source).toBe(1);
    return text;
  });
}
