import { type Agent, type IncomingHttpHeaders, request } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { ConnectionOptions } from 'node:tls';

export interface Asked {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The bytes of the body, compressed or not. */
  readonly body: Buffer;
}

interface Asking {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  /** Settings of TLS. undefined: plain HTTP. */
  readonly tls?: ConnectionOptions;
  /** Keeps connections open. Without an agent each request opens its own. */
  readonly agent?: Agent;
}

/** Sends one request to a server on loopback, with only these headers. */
export function ask(
  port: number,
  path: string,
  { method = 'GET', headers = {}, tls, agent }: Asking = {},
): Promise<Asked> {
  return new Promise((resolve, reject) => {
    const send = tls ? secureRequest : request;
    const outgoing = send(
      { host: '127.0.0.1', port, path, method, headers, agent: agent ?? false, ...tls },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('error', reject);
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) }),
        );
      },
    );
    outgoing.on('error', reject);
    outgoing.end();
  });
}

/** The text of /metrics. @throws if the status is not 200 */
export async function scrape(port: number): Promise<string> {
  const { status, body } = await ask(port, '/metrics');
  if (status !== 200) throw new Error(`status ${status}`);
  return body.toString();
}
