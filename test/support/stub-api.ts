import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answer } from '../../src/sandbox/answer.ts';
import { Sandbox, type SandboxOptions } from '../../src/sandbox/world.ts';
import { atTheEnd } from './cleanup.ts';

export interface StubRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface StubAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface StubApi {
  readonly url: string;
  readonly requests: readonly StubRequest[];
  readonly sandbox: Sandbox;
}

type Spoilt = StubAnswer | 'silence' | undefined;

/** What a request gets instead of the sandbox's answer; `silence`: nothing, ever. A promise makes it late. */
export type Instead = (request: StubRequest) => Spoilt | Promise<Spoilt>;

interface World extends Omit<SandboxOptions, 'start' | 'key'> {
  /** How far its clock is ahead of this machine's. */
  readonly aheadMs?: number;
}

/** The sandbox on a port of its own until the tests have ended, spoilt where `instead` says so. */
export async function startStubApi(
  key: string,
  instead: Instead = () => undefined,
  { aheadMs = 0, ...world }: World = {},
): Promise<StubApi> {
  const now = (): number => Date.now() + aheadMs;
  const sandbox = new Sandbox({ ...world, start: now(), key });
  const requests: StubRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const request = await readRequest(incoming);
    requests.push(request);
    const spoilt = await instead(request);
    if (spoilt !== 'silence') send(response, spoilt ?? answer(sandbox, request, now()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atTheEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, sandbox };
}

async function readRequest(incoming: IncomingMessage): Promise<StubRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const { method = '', url: path = '', headers } = incoming;
  return { method, path, headers, body: Buffer.concat(chunks).toString() };
}

function send(response: ServerResponse, { status, headers = {}, body }: StubAnswer): void {
  response.writeHead(status, headers);
  response.end(body);
}
