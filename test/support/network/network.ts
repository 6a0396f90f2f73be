import { connect, createServer, type Socket } from 'node:net';
import { atTheEnd } from '../vitest/cleanup.ts';
import { listen } from './listen.ts';

/** A TCP proxy on loopback between a replica and Redis that can lose packets. @param target The port to which it leads */
export async function startNetwork(target: number) {
  let isCut = false;
  const pairs = new Set<readonly [Socket, Socket]>();
  function join(inner: Socket): void {
    const outer = connect(target, '127.0.0.1');
    const pair = [inner, outer] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [outer, inner]] as const) {
      from.on('error', () => undefined);
      from.on('close', () => {
        // While the network is cut, neither side learns that the other has closed.
        if (!isCut) to.destroy();
      });
      from.on('data', (data) => to.write(data));
      if (isCut) from.pause();
    }
  }
  function pauseAll(): void {
    for (const pair of pairs) for (const socket of pair) socket.pause();
  }
  /** Resets every connection. */
  function drop(): void {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
    pairs.clear();
  }
  const url = `redis://127.0.0.1:${await listen(createServer(join))}`;
  atTheEnd(drop);
  return {
    url,
    /** Stops all traffic without closing connections. */
    cut: (): void => {
      isCut = true;
      pauseAll();
    },
    /** Loses all that is sent on the connections so far, as when a host goes. New ones work. */
    strand: pauseAll,
    /** Lets new connections through. Those from before are reset, and what was sent on them is lost. */
    heal: (): void => {
      isCut = false;
      drop();
    },
  };
}
