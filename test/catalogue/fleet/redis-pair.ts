import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../../support/harness.ts';
import { RedisServer } from '../../support/redis-server.ts';
import { FaultProxy } from '../faults/proxy/fault-proxy.ts';

/** A Redis and its replica behind one address, which leads to the primary. */
export class RedisPair {
  readonly url: string;
  readonly #address: FaultProxy;
  readonly #primary: RedisServer;
  readonly #replica: RedisServer;

  static async start(): Promise<RedisPair> {
    const primary = await RedisServer.start();
    const replica = await RedisServer.start(['--replicaof', '127.0.0.1', String(primary.port)]);
    await waitFor(async () => (await replica.command('INFO', 'replication')).includes('link_status:up'), 'a replica');
    return new RedisPair(primary, replica, await FaultProxy.start(primary.port));
  }

  private constructor(primary: RedisServer, replica: RedisServer, address: FaultProxy) {
    this.#primary = primary;
    this.#replica = replica;
    this.#address = address;
    this.url = `redis://127.0.0.1:${address.port}`;
  }

  /** Kills the primary and leads to its replica, which has not received what was written in the last milliseconds. */
  async failOver(lostMs: number): Promise<void> {
    await this.#replica.command('REPLICAOF', 'NO', 'ONE');
    await sleep(lostMs);
    await this.#primary.signal('SIGKILL');
    this.#address.leadTo(this.#replica.port);
  }

  async close(): Promise<void> {
    await Promise.all([this.#address.close(), this.#primary.close(), this.#replica.close()]);
  }
}
