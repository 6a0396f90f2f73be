import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer, type SecureContextOptions, type Server as TlsServer } from 'node:tls';
import { answer, type SandboxAnswer } from '../../src/sandbox/answer.ts';
import { Sandbox, type SandboxOptions } from '../../src/sandbox/world.ts';

/** What goes wrong between the exporter and the service. */
export interface Fault {
  /** Nobody listens. */
  readonly refuses?: true;
  /** Has the connection instead of the service, before a byte is read. */
  connection?(socket: Socket): void;
  /** Has the request instead of the service, which would have given this answer. */
  request?(response: ServerResponse, genuine: SandboxAnswer, request: FaultRequest): void;
  /** What the service presents, where it speaks TLS. */
  readonly credentials?: SecureContextOptions;
}

export interface FaultRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** When it came, Unix ms as the service has it. */
  readonly at: number;
}

export interface FaultServerOptions extends Omit<SandboxOptions, 'start'> {
  /** Unix ms as the service has it. */
  readonly now: () => number;
  /** Speaks TLS and presents this while nothing is wrong. */
  readonly credentials?: SecureContextOptions;
}

/** The simulated service on real sockets, with anything that can go wrong on the way to it. */
export class FaultServer {
  readonly sandbox: Sandbox;
  readonly requests: FaultRequest[] = [];
  readonly #now: () => number;
  readonly #credentials: SecureContextOptions | undefined;
  readonly #http: Server;
  readonly #listener: ReturnType<typeof createServer>;
  readonly #tls: TlsServer | undefined;
  readonly #sockets = new Set<Socket>();
  #fault: Fault | undefined;
  #port = 0;
  #skippedMs = 0;

  constructor({ now, credentials, ...world }: FaultServerOptions) {
    this.#now = now;
    this.#credentials = credentials;
    this.sandbox = new Sandbox({ ...world, start: now() });
    this.#http = createHttpServer((request, response) => {
      this.#respond(request, response).catch(() => response.destroy());
    });
    this.#tls = credentials && createTlsServer(credentials, (socket) => this.#http.emit('connection', socket));
    this.#tls?.on('tlsClientError', () => undefined);
    this.#listener = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket)).on('error', () => undefined);
      if (this.#fault?.connection) this.#fault.connection(socket);
      else (this.#tls ?? this.#http).emit('connection', socket);
    });
  }

  get port(): number {
    return this.#port;
  }

  /** Listens, at first on any free port, later on the same one again. */
  async listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#listener.once('error', reject).listen(this.#port, '127.0.0.1', resolve);
    });
    this.#port = (this.#listener.address() as AddressInfo).port;
  }

  /** From now on this goes wrong, also with connections that are open; undefined: nothing. */
  async suffer(fault: Fault | undefined): Promise<void> {
    const before = this.#fault;
    this.#fault = fault;
    if (this.#credentials) this.#tls?.setSecureContext(fault?.credentials ?? this.#credentials);
    if (fault?.refuses && !before?.refuses) await this.#stopListening();
    if (!fault?.refuses && before?.refuses) await this.listen();
    if (fault && !fault.request) this.dropConnections();
  }

  dropConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Time passes that nobody else notices. */
  skip(ms: number): void {
    this.#skippedMs += ms;
  }

  #time(): number {
    return this.#now() + this.#skippedMs;
  }

  /** Those that are open stay open, and nothing comes over them any more: what a suspended machine finds. */
  muteConnections(): void {
    for (const socket of this.#sockets) {
      socket.removeAllListeners('data').pause();
      socket.write = () => true;
    }
  }

  async close(): Promise<void> {
    if (!this.#fault?.refuses) await this.#stopListening();
    this.dropConnections();
  }

  async #stopListening(): Promise<void> {
    const closed = new Promise((resolve) => this.#listener.close(resolve));
    this.dropConnections();
    await closed;
  }

  async #respond(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const { method = '', url: path = '', headers } = incoming;
    const request = { method, path, headers, body: Buffer.concat(chunks).toString(), at: this.#time() };
    this.requests.push(request);
    const genuine = answer(this.sandbox, request, request.at);
    if (this.#fault?.request) return this.#fault.request(response, genuine, request);
    response.writeHead(genuine.status, genuine.headers);
    response.end(genuine.body);
  }
}
