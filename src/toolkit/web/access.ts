import type { X509Certificate } from 'node:crypto';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import { SocketAddress } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../lib/clock.ts';
import { messageOf } from '../lib/error-code.ts';
import type { Logger } from '../lib/log.ts';
import { credentialsOf, Passwords, TooBusy } from './passwords.ts';
import { sendText } from './send.ts';
import { readCertificates, type TlsSettings, type WebConfig } from './web-config.ts';

/** Renewed certificates are served within a minute. */
const RENEW_EVERY_MS = 30_000;

/** Admits connections and requests according to a web config, on every path. */
export class Access {
  readonly #clock: Pick<Clock, 'sleep'>;
  readonly #log: Logger;
  readonly #passwords = new Passwords();
  #config: WebConfig;
  readonly #servers: HttpsServer[] = [];
  readonly #stop = new AbortController();

  constructor(config: WebConfig, clock: Pick<Clock, 'sleep'>, log: Logger) {
    this.#config = config;
    this.#clock = clock;
    this.#log = log;
  }

  get isTls(): boolean {
    return this.#config.tls !== undefined;
  }

  /** @param config Must not differ in settings that need a restart */
  adopt(config: WebConfig): void {
    this.#config = config;
    if (config.tls) for (const server of this.#servers) server.setSecureContext(config.tls.context);
  }

  createServer(options: ServerOptions & { headersTimeout: number }, listener: RequestListener): Server {
    const guarded: RequestListener = (request, response) => {
      this.#admits(request, response).then(
        (isAdmitted) => isAdmitted && listener(request, response),
        (error: unknown) => {
          this.#log.error({ err: String(error) }, 'request not checked');
          refuse(response, 500);
        },
      );
    };
    const { tls } = this.#config;
    if (!tls) return createHttpServer(options, guarded);
    const server = createHttpsServer(
      {
        ...options,
        ...tls.context,
        handshakeTimeout: options.headersTimeout,
        requestCert: tls.clients.isAsked,
        // Decided below: some policies ask for a certificate without requiring it.
        rejectUnauthorized: false,
      },
      guarded,
    );
    server.prependListener('secureConnection', (socket) => this.#checkCertificate(socket));
    if (this.#servers.push(server) === 1) server.once('listening', () => void this.#renewCertificates());
    return server;
  }

  close(): Promise<void> {
    this.#stop.abort();
    return this.#passwords.close();
  }

  /** Uses replaced certificates, also behind a changed link. Other settings need a reload. */
  async #renewCertificates(): Promise<void> {
    for (let logged = ''; ; ) {
      await this.#clock.sleep(RENEW_EVERY_MS, this.#stop.signal).catch(() => undefined);
      const config = this.#config;
      if (this.#stop.signal.aborted || !config.tls) return;
      try {
        const tls = await readCertificates(config.tls.source);
        logged = '';
        // A reload may have come in the meantime.
        if (this.#config !== config || isDeepStrictEqual(tls, config.tls)) continue;
        this.adopt({ ...config, tls });
        this.#log.info('certificates renewed');
      } catch (error) {
        const err = messageOf(error);
        if (err !== logged) this.#log.warn({ err }, 'certificates cannot be renewed, still serving the previous ones');
        logged = err;
      }
    }
  }

  #checkCertificate(socket: TLSSocket): void {
    const { tls } = this.#config;
    const reason = tls && whyRefused(socket, tls);
    if (reason === undefined) return;
    socket.destroy();
    this.#log.debug({ reason }, 'connection refused');
  }

  /** Responds itself if it does not admit the request. */
  async #admits({ headers }: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const config = this.#config;
    for (const [name, value] of config.headers) response.setHeader(name, value);
    if (config.users.size === 0) return true;
    const credentials = credentialsOf(headers.authorization);
    try {
      if (credentials && (await this.#passwords.admits(credentials, config.users))) return true;
    } catch (error) {
      if (error instanceof TooBusy) return refuse(response, 503);
      throw error;
    }
    response.setHeader('WWW-Authenticate', 'Basic');
    return refuse(response, 401);
  }
}

function refuse(response: ServerResponse, status: number): false {
  response.setHeader('X-Content-Type-Options', 'nosniff');
  sendText(response, status, `${STATUS_CODES[status]}\n`);
  return false;
}

function whyRefused(socket: TLSSocket, { clients, allowedSans }: TlsSettings): string | undefined {
  if (!clients.isAsked) return undefined;
  const certificate = socket.getPeerX509Certificate();
  if (!certificate) {
    return clients.isRequired || allowedSans ? 'the client has no certificate' : undefined;
  }
  if (clients.isVerified && !socket.authorized) {
    return `the client certificate is not accepted: ${socket.authorizationError}`;
  }
  if (allowedSans && !namesOf(certificate).some((name) => allowedSans.includes(name))) {
    return 'the client certificate has no name in client_allowed_sans';
  }
  return undefined;
}

/** `DNS:a, IP Address:1.2.3.4, URI:"..."`: Node quotes a name that could be read as several. */
const ENTRY = /(?:^|, )(DNS|IP Address|email|URI):("(?:[^"\\]|\\.)*"|[^,]*)/g;

/** The subject alternative names of a certificate, as Go writes them. */
export function namesOf({ subjectAltName = '' }: Pick<X509Certificate, 'subjectAltName'>): string[] {
  return [...subjectAltName.matchAll(ENTRY)].map(([, type, value = '']) => {
    const name = value.startsWith('"') ? String(JSON.parse(value)) : value;
    const isIPv6 = type === 'IP Address' && name.includes(':');
    return isIPv6 ? new SocketAddress({ address: name, family: 'ipv6' }).address : name;
  });
}
