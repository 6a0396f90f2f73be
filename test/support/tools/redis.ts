import { once } from 'node:events';
import { connect } from 'node:net';
import { createClient } from '@redis/client';
import { temporaryFolder } from '../files/files.ts';
import { freePort } from '../network/ports.ts';
import { type Running, start, waitFor } from '../programs/program.ts';
import { REDIS } from './tools.ts';

/** A real Redis on loopback. It can stop and start again, with or without its data. */
export class RedisServer {
  readonly port: number;
  readonly #args: readonly string[];
  readonly #dir = temporaryFolder();
  #running: Running | undefined;

  constructor(port: number, args: readonly string[]) {
    this.port = port;
    this.#args = args;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const args = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.#dir, ...this.#args];
    this.#running = start(REDIS.command, args);
    await waitFor(() => connected(this.port));
  }

  /** Stops at once, as by a loss of power. */
  async kill(): Promise<void> {
    await this.#running?.stop('SIGKILL');
  }

  /** Stops in order, after it has written its data. */
  async shutDown(): Promise<void> {
    await this.#running?.stop('SIGTERM');
  }

  /** Stops without a word: its connections stay open, and nothing is answered until `resume`. */
  pause(): void {
    this.#running?.child.kill('SIGSTOP');
  }

  resume(): void {
    this.#running?.child.kill('SIGCONT');
  }

  /** Sends one command over a new connection. */
  async command(...args: string[]): Promise<unknown> {
    const client = createClient({ url: this.url, socket: { reconnectStrategy: false } });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return await client.sendCommand(args);
    } finally {
      client.destroy();
    }
  }
}

/** Waits until the server listens. */
export async function connected(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
  } finally {
    socket.destroy();
  }
}

/** Starts a server. By default its data survive a restart. */
export async function startRedis(
  args: readonly string[] = ['--save', '', '--appendonly', 'yes'],
): Promise<RedisServer> {
  const server = new RedisServer(await freePort(), args);
  await server.start();
  return server;
}
