import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { TLSSocket } from 'node:tls';
import { type Clock, pauseBetweenSlices } from '../lib/clock.ts';

export function sendText(response: ServerResponse, status: number, text: string): void {
  send(response, status, 'text/plain; charset=utf-8', [Buffer.from(text)]);
}

/** Sends the chunks without copying them. Node itself omits the body of a response to HEAD. */
export function send(response: ServerResponse, status: number, type: string, chunks: readonly Buffer[]): void {
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  response.cork();
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': length });
  if (length > ENCRYPTED_AT_ONCE && response.socket instanceof TLSSocket) {
    response.uncork();
    // An error here means that the client is gone.
    pipeline(Readable.from(slices(chunks)), response).catch(() => response.destroy());
    return;
  }
  for (const chunk of chunks) response.write(chunk);
  response.end();
  response.uncork();
}

const ENCRYPTED_AT_ONCE = 64 * 1024;

/**
 * Plain answers share the bytes of one snapshot, however slowly clients read. TLS encrypts a copy for each client, so
 * the chunks are passed on only as the client reads.
 */
function* slices(chunks: readonly Buffer[]): Generator<Buffer> {
  for (const chunk of chunks) {
    for (let start = 0; start < chunk.length; start += ENCRYPTED_AT_ONCE) {
      yield chunk.subarray(start, start + ENCRYPTED_AT_ONCE);
    }
  }
}

/** Sets headers of a page, apart from those that the web config file has set. */
export function setHeaders(response: ServerResponse, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!response.hasHeader(name)) response.setHeader(name, value);
  }
}

const FRESH_MS = 1_000;

/** Renders a page on request, in slices so that scrapes run in between. The page is at most a second old. */
export function renderedPage(read: () => Iterable<string>, clock: Pick<Clock, 'monotonic'>): () => Promise<Buffer> {
  let startedAt = Number.NEGATIVE_INFINITY;
  let page: Promise<Buffer> | undefined;
  const render = async (): Promise<Buffer> => {
    const pause = pauseBetweenSlices(clock);
    const chunks: string[] = [];
    for (const piece of read()) {
      chunks.push(piece);
      await pause();
    }
    return Buffer.from(chunks.join(''));
  };
  return () => {
    const now = clock.monotonic();
    if (page && now - startedAt < FRESH_MS) return page;
    startedAt = now;
    page = render();
    return page;
  };
}
