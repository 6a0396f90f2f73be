import { connect, createServer, type Socket } from 'node:net';
import { atTheEnd } from '../vitest/cleanup.ts';
import { listen } from './listen.ts';

/** A TCP proxy on loopback between a replica and Redis that can lose packets. */
class Network {
  url = '';
  readonly #target: number;
  #isCut = false;
  readonly #pairs = new Set<readonly [Socket, Socket]>();

  /** @param target The port to which connections lead. */
  constructor(target: number) {
    this.#target = target;
  }

  async start(): Promise<void> {
    this.url = `redis://127.0.0.1:${await listen(createServer((inner) => this.#join(inner)))}`;
    atTheEnd(() => this.#drop());
  }

  /** Stops all traffic without closing connections. */
  cut(): void {
    this.#isCut = true;
    for (const pair of this.#pairs) for (const socket of pair) socket.pause();
  }

  /** Lets new connections through. Those from before are reset, and what was sent on them is lost. */
  heal(): void {
    this.#isCut = false;
    this.#drop();
  }

  /** Resets every connection. */
  #drop(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
    this.#pairs.clear();
  }

  #join(inner: Socket): void {
    const outer = connect(this.#target, '127.0.0.1');
    const pair = [inner, outer] as const;
    this.#pairs.add(pair);
    for (const [from, to] of [pair, [outer, inner]] as const) {
      from.on('error', () => undefined);
      from.on('close', () => {
        // While the network is cut, neither side learns that the other has closed.
        if (!this.#isCut) to.destroy();
      });
      from.on('data', (data) => to.write(data));
      if (this.#isCut) from.pause();
    }
  }
}

export async function startNetwork(target: number): Promise<Network> {
  const network = new Network(target);
  await network.start();
  return network;
}
