import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer, type SecureContextOptions, type Server as TlsServer } from 'node:tls';
import { answer, type SandboxAnswer } from '../../../src/sandbox/answer.ts';
import { Sandbox, type SandboxOptions } from '../../../src/sandbox/world.ts';
import { refusalOf } from '../answers/known-request.ts';

/** What goes wrong between the exporter and the service. */
export interface Fault {
  /** Connections are refused. */
  readonly refuses?: true;
  readonly request?: Respond;
  /** The certificate that the service presents, if it speaks TLS. */
  readonly credentials?: SecureContextOptions;
}

/**
 * Answers a request in place of the service. `genuine` asks the service, which counts the request. A function that
 * writes to `response` itself returns 'silence'.
 */
export type Respond = (
  request: ServiceRequest,
  genuine: () => SandboxAnswer,
  response: ServerResponse,
) => Reply | Promise<Reply>;

/** undefined: the genuine answer. 'silence': no answer, and the connection stays open. */
type Reply = ServiceAnswer | 'silence' | undefined;

export interface ServiceRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** Time of arrival by the clock of the service, Unix ms. */
  readonly at: number;
}

interface ServiceAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer;
}

export interface FaultServerOptions extends SandboxOptions, Pick<Fault, 'request'> {
  /** The clock of the service, Unix ms. The system clock by default. */
  readonly now?: () => number;
  /** The service speaks TLS with this certificate. */
  readonly credentials?: SecureContextOptions;
}

/** The sandbox behind a proxy that can break connections, requests and answers: HTTP on a real socket. */
export class FaultServer {
  readonly sandbox: Sandbox;
  readonly requests: ServiceRequest[] = [];
  readonly #now: () => number;
  readonly #credentials: SecureContextOptions | undefined;
  readonly #http: Server;
  readonly #listener: ReturnType<typeof createServer>;
  readonly #tls: TlsServer | undefined;
  readonly #sockets = new Set<Socket>();
  #fault: Fault | undefined;
  port = 0;
  #skippedMs = 0;

  constructor({ now = Date.now, credentials, request, ...world }: FaultServerOptions) {
    this.#now = now;
    this.#credentials = credentials;
    this.#fault = request && { request };
    this.sandbox = new Sandbox(world);
    this.#http = createHttpServer((incoming, response) => {
      this.#respond(incoming, response).catch(() => response.destroy());
    });
    this.#tls = credentials && createTlsServer(credentials, (socket) => this.#http.emit('connection', socket));
    this.#tls?.on('tlsClientError', () => undefined);
    this.#listener = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket)).on('error', () => undefined);
      (this.#tls ?? this.#http).emit('connection', socket);
    });
  }

  get url(): string {
    return `${this.#tls ? 'https' : 'http'}://127.0.0.1:${this.port}`;
  }

  /** Listens on any free port, and after an interruption on the same port again. */
  async listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#listener.once('error', reject).listen(this.port, '127.0.0.1', resolve);
    });
    this.port = (this.#listener.address() as AddressInfo).port;
  }

  /** Replaces the current fault, also on open connections. undefined: no fault. */
  async suffer(fault: Fault | undefined): Promise<void> {
    const before = this.#fault;
    this.#fault = fault;
    if (this.#credentials) this.#tls?.setSecureContext(fault?.credentials ?? this.#credentials);
    if (fault?.refuses && !before?.refuses) await this.#stopListening();
    if (!fault?.refuses && before?.refuses) await this.listen();
    if (fault && !fault.request) this.#dropConnections();
  }

  #dropConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Sets the clock of the service forward. */
  skip(ms: number): void {
    this.#skippedMs += ms;
  }

  /** Leaves connections open, but sends and receives nothing more on them: what a suspended machine finds. */
  muteConnections(): void {
    for (const socket of this.#sockets) {
      socket.removeAllListeners('data').pause();
      socket.write = () => true;
    }
  }

  async close(): Promise<void> {
    if (!this.#fault?.refuses) await this.#stopListening();
    this.#dropConnections();
  }

  /** By the clock of the service, Unix ms. */
  time(): number {
    return this.#now() + this.#skippedMs;
  }

  async #stopListening(): Promise<void> {
    const closed = new Promise((resolve) => this.#listener.close(resolve));
    this.#dropConnections();
    await closed;
  }

  async #respond(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const { method = '', url: path = '', headers } = incoming;
    const request = { method, path, headers, body: Buffer.concat(chunks).toString(), at: this.time() };
    this.requests.push(request);
    const genuine = (): SandboxAnswer => answer(this.sandbox, request, this.time());
    // A double that answers in place of the sandbox knows no other requests than the service.
    const isKnown = refusalOf({ path: path.replace(/^.*(?=\/api\/)/, ''), body: request.body })?.status !== 400;
    const reply = isKnown ? await this.#fault?.request?.(request, genuine, response) : undefined;
    if (reply === 'silence') return;
    const sent: ServiceAnswer = reply ?? genuine();
    // Node would send the time of the machine.
    response.setHeader('date', new Date(this.time()).toUTCString());
    response.writeHead(sent.status, sent.headers);
    response.end(sent.body);
  }
}
