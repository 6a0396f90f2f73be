import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const MAIN = join(import.meta.dirname, '../src/main.ts');
const running = new Set<ChildProcess>();

/** Starts the exporter with these arguments. It logs JSON, and gets only PATH from this environment. */
export function run(cwd: string, ...args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, ['--disable-sigusr1', MAIN, ...args], {
    cwd,
    env: { PATH: process.env['PATH'], BEACONCHAIN_EXPORTER_LOG_FORMAT: 'json' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** The value of a field in the first log line that has it. @throws Error with the output, if it ends without */
export function logged(child: ChildProcess, field: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = '';
  const read = (chunk: Buffer): void => {
    text += chunk;
    const found = new RegExp(`"${field}":"?([^",}]+)`).exec(text)?.[1];
    if (found !== undefined) resolve(found);
  };
  child.stdout?.on('data', read);
  child.stderr?.on('data', read);
  child.once('close', () => reject(new Error(`no ${field} in:\n${text}`)));
  return promise;
}

export async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (!running.has(child)) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}

/** Kills what still runs. */
export function endAll(): void {
  for (const child of running) child.kill('SIGKILL');
}
