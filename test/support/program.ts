import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import { atTheEnd } from './cleanup.ts';
import { temporaryFolder } from './files.ts';

const MAIN = join(import.meta.dirname, '../../src/main.ts');

/** Where programs are, what the clock says (libfaketime), and the habits of the place. */
const INHERITED = /^(PATH|LD_PRELOAD|FAKETIME\w*|TZ|LANG|LC_ALL)$/;

/** The environment of a started program: of this one's no more than it needs, because there may be keys. */
export const SURROUNDINGS: NodeJS.ProcessEnv = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => INHERITED.test(name))),
  // Hundreds of processes are started: each takes half the time where what the first compiled is kept.
  NODE_COMPILE_CACHE: join(import.meta.dirname, '../../node_modules/.cache/compiled'),
};

/** The environment of a Node program whose clock is ahead by so much. It asks `Date.now` alone for the time of day. */
export function ahead(ms: number): NodeJS.ProcessEnv {
  const shift = `const { now } = Date; Date.now = () => now() + ${ms};`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(shift)}` };
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process that a test started, and what it wrote so far. It does not outlive the tests. */
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
    // `close` comes after the last output, `exit` need not.
    this.ended = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => resolve({ code, signal }));
    });
  }

  get output(): string {
    return this.stdout + this.stderr;
  }

  /** The log lines with this message. */
  lines(message: string): Record<string, unknown>[] {
    const lines = this.stdout.split('\n').filter((line) => line.startsWith('{') && line.endsWith('}'));
    return lines.map((line): Record<string, unknown> => JSON.parse(line)).filter(({ msg }) => msg === message);
  }

  /** The first log line with this message, when it is written. */
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

/** Tries until it does not throw; at most as long that a busy machine is not taken for a fault. */
export function waitFor<T>(attempt: () => T | Promise<T>, timeout = 120_000): Promise<T> {
  return vi.waitFor(attempt, { timeout, interval: 50 });
}

/** Starts a program that is killed when the tests have ended. */
export function start(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Running {
  const running = new Running(spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] }));
  atTheEnd(async () => {
    running.child.kill('SIGKILL');
    await running.ended;
  });
  return running;
}

/** Starts the exporter in an empty folder, with these variables and no others of its own; logs are JSON. */
export function startExporter(args: readonly string[], env: NodeJS.ProcessEnv = {}): Running {
  const cwd = temporaryFolder();
  return start(process.execPath, [MAIN, ...args], { cwd, env: { ...SURROUNDINGS, ...env } });
}

/** Starts the daemon with this configuration, on a free port, telling everything. */
export function startServe(config: string, key: string): Running {
  const file = join(temporaryFolder(), 'config.yaml');
  writeFileSync(file, config);
  return startExporter(
    ['serve', `--config.file=${file}`, '--web.listen-address=127.0.0.1:0', '--log.level=debug', '--log.format=json'],
    { BEACONCHAIN_API_KEY: key },
  );
}

/** The port that a started daemon took. */
export async function portOf(program: Running): Promise<number> {
  return Number((await program.line('listening'))['port']);
}
