import { addressKeyOf, type RateLimitKey } from '../../../access/quota/rate-limit-key.ts';
import type { NodeConnection } from './node-connection.ts';

/** The open connections, all and by address, the one whose last request came first at the front. */
export class OpenConnections {
  readonly #http = new Set<NodeConnection>();
  /** WebSockets too. */
  readonly #byPeer = new Map<RateLimitKey, Set<NodeConnection>>();

  get httpCount(): number {
    return this.#http.size;
  }

  touch(connection: NodeConnection): void {
    const ofPeer = this.#byPeer.get(connection.peer) ?? new Set();
    if (ofPeer.size === 0) this.#byPeer.set(connection.peer, ofPeer);
    for (const connections of [this.#http, ofPeer]) {
      connections.delete(connection);
      connections.add(connection);
    }
  }

  upgrade(connection: NodeConnection): void {
    connection.isUpgraded = true;
    this.#http.delete(connection);
  }

  delete(connection: NodeConnection): void {
    this.#http.delete(connection);
    const ofPeer = this.#byPeer.get(connection.peer);
    if (ofPeer?.delete(connection) && ofPeer.size === 0) this.#byPeer.delete(connection.peer);
  }

  count(address: ArrayBuffer): number {
    return this.#byPeer.get(addressKeyOf(address))?.size ?? 0;
  }

  /** Closes the first one, of an address or of all, that has no request and no WebSocket. Returns false if there is none. */
  closeIdle(address?: ArrayBuffer): boolean {
    const candidates = address === undefined ? this.#http : this.#byPeer.get(addressKeyOf(address));
    for (const connection of candidates ?? []) {
      if (!connection.isIdle) continue;
      this.delete(connection); // its `close` comes later
      connection.close();
      return true;
    }
    return false;
  }
}
