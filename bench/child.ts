import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

/** A program of the bench in a process of its own, which sends messages. */
export class Child {
  readonly process: ChildProcess;

  /** `program` is run with these arguments; options of node itself go before. */
  constructor(program: string, args: readonly string[] = [], nodeOptions: readonly string[] = []) {
    const file = join(import.meta.dirname, program);
    const stdio = ['ignore', 'pipe', 'inherit', 'ipc'] as const;
    this.process = spawn(process.execPath, [...nodeOptions, file, ...args], { stdio: [...stdio] });
    this.process.stdout?.resume();
  }

  /** The next message. */
  message<T>(): Promise<T> {
    return new Promise((resolve, reject) => {
      this.process.once('message', (message) => resolve(message as T));
      this.process.once('exit', (code) => reject(new Error(`ended with ${code}`)));
    });
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.kill();
    await ended;
  }
}
