import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';

export interface ChildOptions {
  readonly args?: readonly string[];
  /** Options of Node itself. */
  readonly node?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A program of the bench, or the product, in a process of its own that sends messages. */
export class Child<Message> {
  readonly process: ChildProcess;
  /** What it wrote. */
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

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const ended = this.ended();
    this.process.kill(signal);
    await ended;
  }
}
