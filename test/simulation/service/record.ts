import type { Endpoint } from '../../../src/api/errors.ts';
import type { WireRequest } from '../../../src/api/transport.ts';
import type { Chain } from '../../../src/lib/chain.ts';
import type { ChainAnswer } from './chain-view.ts';
import type { LimitedWindow } from './limits.ts';
import type { Push } from './machines.ts';

/** One request, as the service and the network know it. Times are true ones, Unix ms. */
export interface Exchange {
  readonly process: string;
  readonly endpoint: Endpoint;
  readonly chain: Chain;
  readonly sentAt: number;
  readonly countedAt: number;
  readonly status: number;
  /** Absent if nothing in the account counted it. */
  readonly bucket: string | undefined;
  /** The window that refused it; `nowhere`: it was refused for no reason. */
  readonly refusedBy: LimitedWindow | 'nowhere' | 'revoked' | undefined;
  /** What a page of machine metrics has that a client can use. */
  readonly pushes: readonly Push[];
  /** Whether the body is the good one. */
  readonly isWhole: boolean;
  /** When the whole answer was there. undefined: not yet, or never. */
  deliveredAt: number | undefined;
}

/** Fewer are not worth the copy of the others. */
const MANY = 1_000;

/** What a process has read of a chain. */
interface Reader {
  /** The canonical slashings of each epoch, by block root, as last delivered. */
  readonly canonical: Map<number, ReadonlyMap<string, readonly number[]>>;
  /** When a slashing was first delivered in a block that was delivered as canonical before. */
  readonly slashings: Map<number, number>;
  /** When a final epoch was first delivered completely. */
  readonly finalEpochs: Map<number, number>;
}

/** Every request, and which slashings a process has read. */
export class Records {
  #requests: Exchange[] = [];
  /** How many there were, with those that are forgotten. */
  count = 0;
  /** Is told of each request when it is counted. */
  onCounted: (exchange: Exchange, request: WireRequest) => void = () => undefined;
  readonly #readers = new Map<string, Reader>();

  /** In the order in which they were counted. */
  get requests(): readonly Exchange[] {
    return this.#requests;
  }

  add(exchange: Exchange, request: WireRequest): void {
    this.#requests.push(exchange);
    this.count += 1;
    this.onCounted(exchange, request);
  }

  delivered(exchange: Exchange, answer: ChainAnswer | undefined, at: number): void {
    exchange.deliveredAt = at;
    if (!answer || !exchange.isWhole) return;
    const { canonical, slashings, finalEpochs } = this.#reader(exchange.process, exchange.chain);
    if (answer.epoch !== undefined && answer.canonical) {
      if (answer.isFinal && !finalEpochs.has(answer.epoch)) finalEpochs.set(answer.epoch, at);
      canonical.delete(answer.epoch);
      if (answer.canonical.size > 0) canonical.set(answer.epoch, answer.canonical);
    }
    const shown = answer.epoch === undefined ? undefined : canonical.get(answer.epoch);
    for (const [root, included] of answer.sent ?? []) {
      if (!shown?.has(root)) continue;
      for (const slashing of included) if (!slashings.has(slashing)) slashings.set(slashing, at);
    }
  }

  /** The slashings that a process has read in canonical blocks, each with the time of the first answer. */
  slashingsRead(process: string, chain: Chain): ReadonlyMap<number, number> {
    return this.#reader(process, chain).slashings;
  }

  /** The final epochs that a process has read, each with the time of the first complete answer. */
  finalEpochsRead(process: string, chain: Chain): ReadonlyMap<number, number> {
    return this.#reader(process, chain).finalEpochs;
  }

  /** Drops older requests. What was read is kept: evidence may be read long after the block. */
  forgetBefore(at: number): void {
    const index = this.#requests.findIndex(({ countedAt }) => countedAt >= at);
    if (index > MANY) this.#requests = this.#requests.slice(index);
  }

  #reader(process: string, chain: Chain): Reader {
    const id = `${process} ${chain}`;
    const reader = this.#readers.get(id) ?? { canonical: new Map(), slashings: new Map(), finalEpochs: new Map() };
    this.#readers.set(id, reader);
    return reader;
  }
}
