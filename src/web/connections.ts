import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { addressOf } from '../web-config/login-queue.ts';

/** The connections of one client by peer name, the oldest first. */
interface ClientConnections {
  /** Connections without a request, or with one that is not admitted yet. */
  readonly idle: Map<string, Socket>;
  readonly busy: Map<string, Socket>;
}

/**
 * The open connections of a server. At the limit a new connection replaces an idle one, so that neither silent clients
 * nor a flood of wrong passwords locks legitimate clients out. Clients are distinguished by address.
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
    const client = this.#clients.get(address) ?? { idle: new Map(), busy: new Map() };
    this.#clients.set(address, client);
    client.idle.set(peer, socket);
    this.#open.set(peer, socket);
    socket.once('close', () => {
      if (this.#open.get(peer) === socket) this.#forget(address, peer);
    });
  }

  /** The connection of this request is busy with its answer. */
  answering(socket: Socket, response: ServerResponse): void {
    const [address, peer] = namesOf(socket);
    this.#move(address, peer, 'idle', 'busy');
    response.once('close', () => this.#move(address, peer, 'busy', 'idle'));
  }

  #move(address: string, peer: string, from: keyof ClientConnections, to: keyof ClientConnections): void {
    const client = this.#clients.get(address);
    const socket = client?.[from].get(peer);
    if (!client || !socket) return;
    client[from].delete(peer);
    client[to].set(peer, socket);
  }

  /**
   * Closes the longest idle connection of the client that has the most idle ones. If all are busy, closes the oldest
   * connection of the client that has the most, unless the newcomer has as many. False: there is no room.
   */
  #makeRoom(newcomer: string): boolean {
    const idlest = this.#clientWithMost('idle');
    if (idlest) return this.#drop(idlest, 'idle');
    const busiest = this.#clientWithMost('busy');
    if (busiest === undefined || this.#count(newcomer, 'busy') >= this.#count(busiest, 'busy')) return false;
    return this.#drop(busiest, 'busy');
  }

  #drop(address: string, kind: keyof ClientConnections): boolean {
    const [[peer, socket] = []] = this.#clients.get(address)?.[kind] ?? [];
    if (peer !== undefined) this.#forget(address, peer);
    socket?.destroy();
    return true;
  }

  #forget(address: string, peer: string): void {
    const client = this.#clients.get(address);
    this.#open.delete(peer);
    client?.idle.delete(peer);
    client?.busy.delete(peer);
    if (client?.idle.size === 0 && client.busy.size === 0) this.#clients.delete(address);
  }

  /** Undefined: no client has any. */
  #clientWithMost(kind: keyof ClientConnections): string | undefined {
    let [found, most]: [string | undefined, number] = [undefined, 0];
    for (const [address, { [kind]: connections }] of this.#clients) {
      if (connections.size > most) [found, most] = [address, connections.size];
    }
    return found;
  }

  #count(address: string, kind: keyof ClientConnections): number {
    return this.#clients.get(address)?.[kind].size ?? 0;
  }
}

function namesOf({ remoteAddress, remotePort }: Socket): [address: string, peer: string] {
  return [addressOf(remoteAddress), `${remoteAddress} ${remotePort}`];
}
