import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { get, type RequestOptions } from 'node:http';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { buildSync } from 'esbuild';
import type { Observation } from './observe.ts';
import type { Service } from './service.ts';

const ROOT = join(import.meta.dirname, '..');
/** The built program, because stripping types at run time takes more memory. */
const BUILT = join(ROOT, 'node_modules/.cache/bench');
/** Options of Node that load observe.ts. */
export const OBSERVE = ['--import', join(BUILT, 'observe.js')];
export const EMPTY = join(BUILT, 'empty.js');
export const IDLE = join(BUILT, 'idle.js');

/** Builds the program as it is published, and programs to compare it with. */
export function build(): void {
  mkdirSync(BUILT, { recursive: true });
  writeFileSync(join(BUILT, 'package.json'), readFileSync(join(ROOT, 'package.json')));
  writeFileSync(EMPTY, '');
  writeFileSync(IDLE, 'setInterval(() => undefined, 60_000);');
  const observe = join(import.meta.dirname, 'observe.ts');
  buildSync({ entryPoints: [observe], bundle: true, format: 'esm', platform: 'node', outdir: BUILT });
  execFileSync(process.execPath, [join(ROOT, 'scripts/build.ts'), join(BUILT, 'dist')], { stdio: 'inherit' });
}

interface ChildOptions {
  readonly args?: readonly string[];
  /** Options of Node itself. */
  readonly node?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A program of the bench, or the product, in a process of its own that sends messages. */
export class Child<Message> {
  readonly process: ChildProcess;
  /** The output of the process. */
  output = '';

  /** `program` is relative to the bench. */
  constructor(program: string, { args = [], node = [], env = {} }: ChildOptions = {}) {
    const file = resolve(import.meta.dirname, program);
    this.process = spawn(process.execPath, [...node, file, ...args], {
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
      env: { ...process.env, ...env },
    });
    this.process.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.output += text;
    });
  }

  /** The next message. */
  message(): Promise<Message> {
    return new Promise((resolve, reject) => {
      const ended = (code: number | null): void => reject(new Error(`ended with ${code}: ${this.output}`));
      this.process.once('exit', ended);
      this.process.once('message', (message) => {
        this.process.off('exit', ended);
        resolve(message as Message);
      });
    });
  }

  async ended(): Promise<void> {
    await new Promise((resolve) => this.process.once('exit', resolve));
  }

  async stop(): Promise<void> {
    const ended = this.ended();
    this.process.kill();
    await ended;
  }
}

export interface Started {
  readonly child: Child<Observation>;
  readonly port: number;
}

/**
 * Starts the exporter as the image does, with these additional settings and its state in this folder.
 * @param node Options of Node: without OBSERVE it sends no messages
 */
export async function startExporter(
  folder: string,
  { url, key }: Service,
  settings: string,
  node: readonly string[] = OBSERVE,
): Promise<Started> {
  const file = join(folder, 'config.yaml');
  writeFileSync(file, `api: {base_url: "${url}"}\nstate: {dir: "${folder}/state"}\n${settings}\n`);
  const child = new Child<Observation>(join(BUILT, 'dist/main.js'), {
    args: ['serve', `--config.file=${file}`, '--web.listen-address=127.0.0.1:0', '--log.format=json'],
    node,
    env: { BEACONCHAIN_API_KEY: key, GLIBC_TUNABLES: tunables() },
  });
  const port = await until(() => /"port":(\d+)/.exec(child.output)?.[1]);
  return { child, port: Number(port) };
}

/** How the image and the systemd unit have glibc allocate memory. */
function tunables(): string {
  const [, value] = /GLIBC_TUNABLES=(\S+)/.exec(readFileSync(join(ROOT, 'Dockerfile'), 'utf8')) ?? [];
  if (value === undefined) throw new Error('the Dockerfile sets no GLIBC_TUNABLES');
  return value;
}

export async function until<T>(look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await setTimeout(5);
  }
}

/** Milliseconds from the request to the last byte of the answer. */
export function timed(options: RequestOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    get({ host: '127.0.0.1', ...options }, (answer) => {
      answer.resume();
      answer.on('error', reject).on('end', () => resolve(performance.now() - began));
    }).on('error', reject);
  });
}
