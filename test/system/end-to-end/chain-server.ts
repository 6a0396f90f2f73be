import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from '../../support/listen.ts';
import type { LivelyChain } from '../../support/lively-chain.ts';
import { askedFor, epochOf, type Fields, listOf } from '../../support/slot-rows.ts';

/** One request and what its answer said. */
export interface Exchange {
  readonly key: string;
  /** Unix ms of its arrival. */
  readonly at: number;
  /** `latest`, `finalized`, the number of an epoch, or `slot/N`. */
  readonly what: string;
  /** The epoch of the answer. undefined: it was about a slot. */
  readonly epoch: number | undefined;
  /** The slashings of each block that the rows call canonical, by block root. */
  readonly canonical: ReadonlyMap<string, readonly number[]>;
  /** The roots of the blocks whose slashing records were sent. */
  readonly sent: ReadonlySet<string>;
}

export interface ChainServer {
  readonly url: string;
  /** Everything that was answered, in order. */
  readonly exchanges: readonly Exchange[];
  /** Resolves after this many more requests with this key. */
  asked(key: string, times: number): Promise<void>;
}

/** So high that pacing takes milliseconds. */
const LIMIT = '200';
const HEADERS = {
  'content-type': 'application/json',
  'ratelimit-bucket': 'default',
  'x-ratelimit-limit-second': LIMIT,
  'x-ratelimit-remaining-second': LIMIT,
};

/** Serves a chain over HTTP as the v1 endpoints do (api-facts 5.1, 5.2). The chain may move between two requests. */
export async function startChainServer(chain: LivelyChain): Promise<ChainServer> {
  const exchanges: Exchange[] = [];
  const listeners = new Set<(key: string) => void>();
  const server = createServer((incoming, response) => {
    const key = String(incoming.headers['apikey']);
    const exchange = answer(chain, incoming, response, key);
    if (exchange) exchanges.push(exchange);
    for (const listener of listeners) listener(key);
  });
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    exchanges,
    asked: (wanted, times) =>
      new Promise((resolve) => {
        let left = times;
        listeners.add(function count(key) {
          if (key === wanted) left -= 1;
          if (left > 0) return;
          listeners.delete(count);
          resolve();
        });
      }),
  };
}

function answer(
  chain: LivelyChain,
  { url = '' }: IncomingMessage,
  response: ServerResponse,
  key: string,
): Exchange | undefined {
  const what = askedFor(url);
  const list = listOf(chain, what);
  if (!list) {
    send(response, what === '' ? 404 : 400, null);
    return undefined;
  }
  send(response, 200, list);
  const common = { key, at: Date.now(), what };
  if (what.startsWith('slot/')) {
    return {
      ...common,
      epoch: undefined,
      canonical: new Map(),
      sent: new Set(list.map((record) => String(record['block_root']))),
    };
  }
  const epoch = epochOf(chain, what);
  return { ...common, epoch, canonical: chain.canonical(epoch), sent: new Set() };
}

function send(response: ServerResponse, status: number, data: readonly Fields[] | null): void {
  response.writeHead(status, HEADERS);
  response.end(JSON.stringify({ status: data ? 'OK' : 'ERROR: made up', data }));
}

/**
 * The exchanges of all polls up to the one that began at `lastPoll` (Unix ms). The next poll begins with `latest`. A
 * poll without it reads only final epochs, which count anyway.
 */
export function exchangesUpTo(exchanges: readonly Exchange[], lastPoll: number): readonly Exchange[] {
  const began = exchanges.findIndex(({ at }) => at >= lastPoll);
  const next = exchanges.findIndex(({ what }, i) => i > began && what === 'latest');
  return began === -1 || next === -1 ? exchanges : exchanges.slice(0, next);
}

/** The slashings whose block a poll saw as canonical and whose records it received. */
export function slashingsIn(exchanges: readonly Exchange[]): Set<number> {
  const read = new Set<number>();
  let shown = new Map<string, readonly number[]>();
  for (const { what, canonical, sent } of exchanges) {
    if (what === 'latest') shown = new Map();
    for (const [root, slashings] of canonical) shown.set(root, slashings);
    for (const root of sent) for (const n of shown.get(root) ?? []) read.add(n);
  }
  return read;
}
