import { type IncomingMessage, request } from 'node:http';
import { LIMITS_HEADER, parseLimits, type SharedLimits } from './protocol.ts';

/** The response of the exporter. The body is read on demand. */
export interface Asked {
  readonly status: number;
  readonly body: IncomingMessage;
  /** Undefined: another version. */
  readonly limits: SharedLimits | undefined;
}

/**
 * Sends a question, or a greeting, over the socket. The connection is dropped when the signal aborts, so the exporter
 * drops the question. @throws an Error with the code of the connection
 */
export function ask(path: string, question: object | undefined, signal: AbortSignal): Promise<Asked> {
  const { promise, resolve, reject } = Promise.withResolvers<Asked>();
  const method = question ? 'POST' : 'GET';
  // A connection that is kept could be closed by the exporter at the moment of the next question.
  const outgoing = request({ socketPath: path, method, agent: false, signal }, (body) => {
    resolve({ status: body.statusCode ?? 0, body, limits: parseLimits(body.headers[LIMITS_HEADER]) });
  });
  outgoing.once('error', reject);
  outgoing.end(question && JSON.stringify(question));
  return promise;
}
