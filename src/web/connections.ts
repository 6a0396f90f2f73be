import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { addressOf } from '../web-config/client-address.ts';

/** The connections of one client by peer name, the oldest first. */
interface ClientConnections {
  /** Connections without a request so far, or whose first one is not admitted yet. */
  readonly silent: Map<string, Socket>;
  /** Connections that wait for the next request after an answer. */
  readonly kept: Map<string, Socket>;
  readonly busy: Map<string, Socket>;
}

/**
 * The open connections of a server. At the limit a new connection replaces one that is not busy, so that neither silent
 * clients nor a flood of wrong passwords locks legitimate clients out. Clients are distinguished by address, and of the
 * same address those that were admitted before stay longest.
 */
export class Connections {
  readonly #max: number;
  /** By peer and not by socket, because a request over TLS comes from another socket than its connection. */
  readonly #open = new Map<string, Socket>();
  readonly #clients = new Map<string, ClientConnections>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Keeps this connection, or closes it if there is no room. */
  take(socket: Socket): void {
    const [address, peer] = namesOf(socket);
    this.#forget(address, peer);
    if (this.#open.size >= this.#max && !this.#makeRoom(address)) {
      socket.destroy();
      return;
    }
    const client = this.#clients.get(address) ?? { silent: new Map(), kept: new Map(), busy: new Map() };
    this.#clients.set(address, client);
    client.silent.set(peer, socket);
    this.#open.set(peer, socket);
    socket.once('close', () => {
      if (this.#open.get(peer) === socket) this.#forget(address, peer);
    });
  }

  /** The connection of this request is busy with its answer. */
  answering(socket: Socket, response: ServerResponse): void {
    const [address, peer] = namesOf(socket);
    this.#move(address, peer, ['silent', 'kept'], 'busy');
    response.once('close', () => this.#move(address, peer, ['busy'], 'kept'));
  }

  #move(address: string, peer: string, from: readonly Kind[], to: Kind): void {
    const client = this.#clients.get(address);
    for (const kind of from) {
      const socket = client?.[kind].get(peer);
      if (!client || !socket) continue;
      client[kind].delete(peer);
      client[to].set(peer, socket);
      return;
    }
  }

  /**
   * Closes a connection of the client that has the most that are not busy: the oldest silent one, or else the one that is
   * kept the longest. If all are busy, closes the oldest connection of the client that has the most, unless the newcomer
   * has as many. False: there is no room.
   */
  #makeRoom(newcomer: string): boolean {
    const idlest = this.#clientWithMost(idleCount);
    if (idlest !== undefined) return this.#drop(idlest, ['silent', 'kept']);
    const busiest = this.#clientWithMost(busyCount);
    if (busiest === undefined || this.#count(newcomer, busyCount) >= this.#count(busiest, busyCount)) return false;
    return this.#drop(busiest, ['busy']);
  }

  #drop(address: string, kinds: readonly Kind[]): boolean {
    const client = this.#clients.get(address);
    for (const kind of kinds) {
      for (const [peer, socket] of client?.[kind] ?? []) {
        this.#forget(address, peer);
        socket.destroy();
        return true;
      }
    }
    return false;
  }

  #forget(address: string, peer: string): void {
    this.#open.delete(peer);
    const client = this.#clients.get(address);
    if (!client) return;
    for (const kind of KINDS) client[kind].delete(peer);
    if (idleCount(client) + busyCount(client) === 0) this.#clients.delete(address);
  }

  /** The address of the client. Undefined: there are no such connections. */
  #clientWithMost(countOf: CountOf): string | undefined {
    let [found, most]: [string | undefined, number] = [undefined, 0];
    for (const [address, client] of this.#clients) {
      const count = countOf(client);
      if (count > most) [found, most] = [address, count];
    }
    return found;
  }

  #count(address: string, countOf: CountOf): number {
    const client = this.#clients.get(address);
    return client ? countOf(client) : 0;
  }
}

type CountOf = (client: ClientConnections) => number;

type Kind = keyof ClientConnections;

const KINDS = ['silent', 'kept', 'busy'] as const satisfies Kind[];

function idleCount({ silent, kept }: ClientConnections): number {
  return silent.size + kept.size;
}

function busyCount({ busy }: ClientConnections): number {
  return busy.size;
}

function namesOf({ remoteAddress, remotePort }: Socket): [address: string, peer: string] {
  return [addressOf(remoteAddress), `${remoteAddress} ${remotePort}`];
}
