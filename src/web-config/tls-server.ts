import { type RequestListener, Server, type ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import { createServer, type TLSSocket, type Server as TlsLayer } from 'node:tls';
import { namesOf } from './client-names.ts';
import type { TlsSettings } from './load.ts';

/** The type of a TLS record that starts a handshake. */
const HANDSHAKE = 22;

/** A handshake keeps the processor busy for about a millisecond. */
const HANDSHAKES_PER_TURN = 4;

/** The response of Go to an HTTP request. */
const PLAIN_HTTP =
  'HTTP/1.0 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n' +
  'Client sent an HTTP request to an HTTPS server.\n';

export interface TlsSource {
  /** The settings for a handshake that starts now; undefined: it is refused. */
  readonly settings: () => Promise<TlsSettings | undefined>;
  /** Called with the reason why a connection was closed before its first request. */
  readonly onRefused: (reason: string) => void;
}

/** An HTTPS server. Each handshake uses the current web config, and has the same time limit as request headers. */
export class TlsServer extends Server {
  readonly #source: TlsSource;
  /** The listener by which an HTTP server takes a connection. */
  readonly #serve: ((socket: Socket) => void) | undefined;
  /** Connections that have not yet been passed to the HTTP server. */
  readonly #early = new Set<Socket>();
  readonly #waiting: (() => void)[] = [];
  /** One for each state of the file, with session tickets of its own: a session is resumed only under the same rules. */
  readonly #layers = new WeakMap<TlsSettings, TlsLayer>();

  constructor(options: ServerOptions, listener: RequestListener, source: TlsSource) {
    super(options, listener);
    this.#source = source;
    [this.#serve] = this.listeners('connection') as ((socket: Socket) => void)[];
    this.removeAllListeners('connection');
    this.on('connection', (socket: Socket) => this.#receive(socket));
  }

  override closeAllConnections(): void {
    for (const socket of this.#early) socket.destroy();
    super.closeAllConnections();
  }

  /** Waits for the first bytes, which say whether this is TLS. */
  #receive(socket: Socket): void {
    this.#early.add(socket);
    socket.once('close', () => this.#early.delete(socket));
    // A client may hang up before the handshake.
    socket.on('error', () => socket.destroy());
    socket.setTimeout(this.headersTimeout, () => socket.destroy());
    // Unlike HTTP, TLS cannot continue after the client has closed its side.
    socket.allowHalfOpen = false;
    socket.once('readable', () => this.#startTls(socket));
  }

  #startTls(socket: Socket): void {
    const start: Buffer | null = socket.read();
    if (start === null) {
      socket.destroy();
    } else if (start[0] !== HANDSHAKE) {
      socket.end(PLAIN_HTTP, () => socket.destroy());
    } else {
      socket.setTimeout(0);
      socket.unshift(start);
      this.#shakeHands(socket).catch((error: unknown) => this.#refuse(socket, String(error)));
    }
  }

  async #shakeHands(socket: Socket): Promise<void> {
    const settings = await this.#source.settings();
    if (!settings) return this.#refuse(socket, 'the web config no longer has a certificate');
    this.#waiting.push(() => {
      if (!socket.destroyed) this.#layerOf(settings).emit('connection', socket);
    });
    if (this.#waiting.length === 1) setImmediate(() => this.#beginHandshakes());
  }

  /** Starts a few handshakes, then lets connected clients get their responses. */
  #beginHandshakes(): void {
    for (const begin of this.#waiting.slice(0, HANDSHAKES_PER_TURN)) begin();
    this.#waiting.splice(0, HANDSHAKES_PER_TURN);
    if (this.#waiting.length > 0) setImmediate(() => this.#beginHandshakes());
  }

  #layerOf(settings: TlsSettings): TlsLayer {
    const known = this.#layers.get(settings);
    if (known) return known;
    const layer = createServer({
      ...settings.context,
      ALPNProtocols: ['http/1.1'],
      handshakeTimeout: this.headersTimeout,
      requestCert: settings.clients.isAsked,
      // Decided below: some policies ask for a certificate without requiring it.
      rejectUnauthorized: false,
    });
    layer.on('secureConnection', (socket) => {
      const problem = problemOf(socket, settings);
      if (problem !== undefined) return this.#refuse(socket, problem);
      this.#serve?.call(this, socket);
    });
    // A handshake timeout ends here too: by itself it closes nothing.
    layer.on('tlsClientError', (error, socket) => this.#refuse(socket, String(error)));
    this.#layers.set(settings, layer);
    return layer;
  }

  #refuse(socket: Socket, reason: string): void {
    socket.destroy();
    this.#source.onRefused(reason);
  }
}

/** Why a client is refused; undefined: it is not. */
function problemOf(socket: TLSSocket, { clients, allowedSans }: TlsSettings): string | undefined {
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
