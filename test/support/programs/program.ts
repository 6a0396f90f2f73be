import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { vi } from 'vitest';
import { temporaryFolder } from '../files/files.ts';
import { atTheEnd } from '../vitest/cleanup.ts';

/** `PROGRAM=dist/main.js` runs the tests on the program as it is published. */
const MAIN = resolve(process.env['PROGRAM'] ?? join(import.meta.dirname, '../../../src/main.ts'));

/** Variables for paths, for libfaketime and for the locale. */
const INHERITED = /^(PATH|LD_PRELOAD|FAKETIME\w*|TZ|LANG|LC_ALL)$/;

/** The environment of a started program. It inherits only what it needs, because the rest may contain keys. */
export const SURROUNDINGS: NodeJS.ProcessEnv = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => INHERITED.test(name))),
  // The tests start hundreds of processes. With the compile cache each start takes half the time.
  NODE_COMPILE_CACHE: join(import.meta.dirname, '../../../node_modules/.cache/compiled'),
  // Several demos run at once.
  BEACONCHAIN_EXPORTER_SANDBOX_LISTEN_ADDRESS: '127.0.0.1:0',
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

/** Repeats the attempt until it does not throw. The time limit allows for a busy machine. */
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

/** Starts the daemon with this configuration on a free port. It logs all levels as JSON. */
export function startServe(config: string, key: string): Running {
  const file = join(temporaryFolder(), 'config.yaml');
  writeFileSync(file, config);
  return startExporter(
    ['serve', `--config.file=${file}`, '--web.listen-address=127.0.0.1:0', '--log.level=debug', '--log.format=json'],
    { BEACONCHAIN_API_KEY: key },
  );
}

/** The port on which a started daemon listens. */
export async function portOf(program: Running): Promise<number> {
  return Number((await program.line('listening'))['port']);
}
