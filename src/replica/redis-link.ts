import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { createClient, RedisClientOptions } from '@redis/client';
import { type Clock, within } from '../lib/clock.ts';
import { explain, RedisAway, reasonOf } from './redis-reasons.ts';

export interface RedisSettings {
  /** redis:// or rediss://. It may hold a password, so it is never shown. */
  readonly url: string;
  /** Used instead of the password in the URL. */
  readonly password?: string | undefined;
  readonly prefix: string;
  readonly tls?: TlsFiles | undefined;
}

/** Paths of PEM files, and the name in the server's certificate where that is not the host of the URL. */
export interface TlsFiles {
  readonly caFile?: string | undefined;
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  readonly serverName?: string | undefined;
}

/** What one of our scripts returns. */
export type Reply = readonly string[];

/** A script that is not answered in this time counts as a lost connection. A large document has longer. */
const TIMEOUT_MS = 1_500;
/** The slowest transfer that is waited for. */
const BYTES_PER_MS = 4_000;

/** The part of the client library that is used, once it is connected. */
interface RedisClient {
  sendCommand(args: readonly string[]): Promise<unknown>;
  destroy(): void;
}

type Connect = (settings: RedisSettings) => Promise<RedisClient>;

/**
 * One connection at a time. While the server is unreachable, commands are not queued: each one fails, and the next one
 * connects again.
 */
export class RedisLink {
  readonly #settings: RedisSettings;
  readonly #clock: Clock;
  #client: Promise<RedisClient> | undefined;
  #connection = 0;

  constructor(settings: RedisSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
  }

  /** Numbers the connections: after each loss the next one counts one more. */
  get connection(): number {
    return this.#connection;
  }

  /** @throws RedisAway */
  async run(script: string, keys: readonly string[], args: readonly string[]): Promise<Reply> {
    const connect = await clientLibrary();
    const size = args.reduce((sum, arg) => sum + arg.length, 0);
    const client = this.#open(connect);
    try {
      const evaluated = client.then((opened) => evaluate(opened, script, keys, args));
      return await within(this.#clock, TIMEOUT_MS + size / BYTES_PER_MS, evaluated, () => {
        throw new RedisAway('no answer in time');
      });
    } catch (error) {
      if (this.#client === client) this.#drop();
      throw new RedisAway(explain(error));
    }
  }

  close(): void {
    this.#drop();
  }

  #open(connect: Connect): Promise<RedisClient> {
    if (this.#client) return this.#client;
    this.#connection += 1;
    const client = connect(this.#settings);
    // The command that is waiting for the connection reports the failure.
    client.catch(() => undefined);
    this.#client = client;
    return client;
  }

  #drop(): void {
    this.#client?.then(
      (client) => client.destroy(),
      () => undefined,
    );
    this.#client = undefined;
  }
}

/** Loaded only where Redis is used, and before the timeout of a command begins. */
async function clientLibrary(): Promise<Connect> {
  const { createClient } = await import('@redis/client');
  return (settings) => connectBy(createClient, settings);
}

async function connectBy(create: typeof createClient, { url, password, tls }: RedisSettings): Promise<RedisClient> {
  const read = (file: string | undefined) => file && readFile(file, 'utf8');
  const [ca, cert, key] = await Promise.all([tls?.caFile, tls?.certFile, tls?.keyFile].map(read));
  const secured = url.startsWith('rediss:') ? { tls: true as const, ca, cert, key, servername: tls?.serverName } : {};
  const options: RedisClientOptions = {
    ...credentialsOf(url, password),
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    socket: { connectTimeout: TIMEOUT_MS, reconnectStrategy: false, ...secured },
  };
  const client = create(options);
  // Without a listener an error would end the process. The command in progress reports it.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (error) {
    client.destroy();
    throw error;
  }
}

/** The client takes user and password either from the URL or from its options, never one from each. */
function credentialsOf(
  text: string,
  password: string | undefined,
): Pick<RedisClientOptions, 'url' | 'username' | 'password'> {
  if (password === undefined) return { url: text };
  const url = new URL(text);
  const username = decodeURIComponent(url.username);
  url.username = '';
  url.password = '';
  return { url: url.href, password, ...(username === '' ? {} : { username }) };
}

/** The scripts are constants, and one of them is sent twice a second. */
const digests = new Map<string, string>();

function digestOf(script: string): string {
  const digest = digests.get(script) ?? hash('sha1', script);
  digests.set(script, digest);
  return digest;
}

async function evaluate(
  client: RedisClient,
  script: string,
  keys: readonly string[],
  args: readonly string[],
): Promise<Reply> {
  const rest = [String(keys.length), ...keys, ...args];
  const reply = await client.sendCommand(['EVALSHA', digestOf(script), ...rest]).catch((error: unknown) => {
    if (reasonOf(error) !== 'NOSCRIPT') throw error;
    return client.sendCommand(['EVAL', script, ...rest]);
  });
  return Array.isArray(reply) ? reply.map(String) : [String(reply)];
}
