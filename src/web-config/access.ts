import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Socket } from 'node:net';
import { ConfigError } from '../config/mistakes.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { MonotonicMs } from '../lib/time.ts';
import { BasicAuth, costOf, credentialsOf } from './basic-auth.ts';
import { Bcrypt, TooBusy } from './bcrypt.ts';
import { addressOf } from './client-address.ts';
import { WebConfigFile } from './file.ts';
import { configIn, type RateLimit, readWebConfig, type TlsSettings, type WebConfig } from './load.ts';
import { TokenBucket } from './rate-limit.ts';
import { TlsServer } from './tls-server.ts';

/**
 * How long a failed login counts against its connection. Shorter than a scrape interval, so that a scraper that was
 * refused is not behind others at its next scrape.
 */
const FAILURE_COUNTS_MS = 10_000;
const HOLD_BACK_MS = 1_000;

/**
 * Decides by a web config file who may connect and send requests, on every path. Each request uses the current file.
 */
export class Access {
  /** Fixed at the start, as in exporter-toolkit: a server never falls back to plain HTTP. */
  readonly isTls: boolean;
  readonly #file: WebConfigFile;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #bcrypt = new Bcrypt();
  readonly #auth: BasicAuth;
  /** When a login over a connection last failed or was refused. */
  readonly #failedAt = new WeakMap<Socket, MonotonicMs>();
  #bucket: TokenBucket | undefined;
  #tls: TlsSettings | undefined;

  private constructor(file: WebConfigFile, initial: WebConfig, clock: Clock, log: Logger) {
    this.#file = file;
    this.#tls = initial.tls;
    this.isTls = initial.tls !== undefined;
    this.#clock = clock;
    this.#log = log;
    this.#auth = new BasicAuth((password, hash, origin) => this.#bcrypt.matches(password, hash, origin), clock);
    warnOfSlowLogins(initial, log);
  }

  /** @throws ConfigError with every mistake of the file at once. */
  static async open(path: string, clock: Clock, log: Logger): Promise<Access> {
    const first = await readWebConfig(path);
    const initial = configIn(first);
    const file = new WebConfigFile(path, first, clock, (outcome) => {
      if (outcome instanceof ConfigError) {
        log.error({ mistakes: outcome.message }, 'web config is invalid');
        return;
      }
      log.info('web config changed');
      warnOfSlowLogins(outcome, log);
      if ((outcome.tls === undefined) !== (initial.tls === undefined))
        log.warn('switching TLS on or off requires a restart');
    });
    return new Access(file, initial, clock, log);
  }

  /** Creates a server whose requests are checked here first. */
  createServer(options: ServerOptions, listener: RequestListener): Server {
    const guarded: RequestListener = (request, response) => {
      this.#admits(request, response).then(
        (isAdmitted) => isAdmitted && listener(request, response),
        (error: unknown) => {
          this.#log.error({ err: String(error) }, 'request not checked');
          refuse(response, 500);
        },
      );
    };
    if (!this.isTls) return createServer(options, guarded);
    return new TlsServer(options, guarded, {
      settings: () => this.#tlsNow(),
      onRefused: (reason) => this.#log.debug({ reason }, 'connection refused'),
    });
  }

  close(): Promise<void> {
    return this.#bcrypt.close();
  }

  /** If the file is broken, the last settings remain in effect, so that clients can connect and get a 500. */
  async #tlsNow(): Promise<TlsSettings | undefined> {
    const config = await this.#file.current();
    if (!(config instanceof ConfigError)) this.#tls = config.tls;
    return this.#tls;
  }

  /** Rejects a request that is not admitted. Checks in the order of exporter-toolkit. */
  async #admits(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const config = await this.#file.current();
    if (config instanceof ConfigError) return refuse(response, 500);
    if (!this.#isWithin(config.rateLimit)) return refuse(response, 429);
    for (const [name, value] of config.headers) response.setHeader(name, value);
    if (config.users.size === 0) return true;
    return this.#authenticates(request, response, config);
  }

  async #authenticates(request: IncomingMessage, response: ServerResponse, config: WebConfig): Promise<boolean> {
    const { socket } = request;
    const credentials = credentialsOf(request.headers.authorization);
    const client = { address: addressOf(socket.remoteAddress), hasFailed: this.#hasFailed(socket) };
    try {
      if (credentials && (await this.#auth.admits(credentials, config.users, client))) return true;
    } catch (error) {
      if (!(error instanceof TooBusy)) throw error;
      this.#failedAt.set(socket, this.#clock.monotonic());
      await this.#holdBack(response);
      return refuse(response, 503);
    }
    if (credentials) this.#failedAt.set(socket, this.#clock.monotonic());
    response.setHeader('WWW-Authenticate', 'Basic');
    return refuse(response, 401);
  }

  /** Delays the refusal: clients that are refused and try again at once would make the flood larger. */
  async #holdBack(response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    await this.#clock.sleep(HOLD_BACK_MS, gone.signal).catch(() => undefined);
  }

  #hasFailed(socket: Socket): boolean {
    return this.#clock.monotonic() - (this.#failedAt.get(socket) ?? Number.NEGATIVE_INFINITY) < FAILURE_COUNTS_MS;
  }

  #isWithin(limit: RateLimit | undefined): boolean {
    if (!limit) return true;
    const now = this.#clock.monotonic();
    const old = this.#bucket?.limit;
    const isSame = old?.intervalMs === limit.intervalMs && old.burst === limit.burst;
    if (!this.#bucket || !isSame) this.#bucket = new TokenBucket(limit, now);
    return this.#bucket.take(now);
  }
}

/** With this cost, a login takes about 1 s. It cannot be interrupted, and others wait for it. */
const SLOW_COST = 14;

function warnOfSlowLogins({ users }: WebConfig, log: Logger): void {
  const slow = [...users].filter(([, hash]) => costOf(hash) >= SLOW_COST).map(([user]) => user);
  if (slow.length > 0) {
    log.warn({ users: slow }, 'logins of these users take a second or more: use a bcrypt cost of 10 to 12');
  }
}

function refuse(response: ServerResponse, status: number): false {
  const text = `${STATUS_CODES[status]}\n`;
  const headers = {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': text.length,
    'X-Content-Type-Options': 'nosniff',
  };
  response.writeHead(status, headers).end(text);
  return false;
}
