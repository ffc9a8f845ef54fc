import { toJson } from '../../domain/json.ts';
import type { PubsubSession, SubscriptionHandler } from '../../upstream/pubsub/pubsub-session.ts';

interface Shared {
  readonly watchers: Set<SubscriptionHandler>;
  stop: () => void;
  isAcknowledged: boolean;
}

/**
 * The subscriptions of one connection, each made once however many want it. A node counts equal ones as one: to end
 * one would end the other, and its silence would be taken for "unchanged".
 */
export class SharedSubscriptions {
  readonly #line: PubsubSession;
  readonly #byName = new Map<string, Shared>();

  constructor(line: PubsubSession) {
    this.#line = line;
  }

  /** As `Line.subscribe`. It is acknowledged at once where that has come already. */
  subscribe(...[method, params, watcher]: Parameters<PubsubSession['subscribe']>): () => void {
    const name = nameOf(method, params);
    const shared = this.#byName.get(name) ?? this.#open(name, method, params);
    shared.watchers.add(watcher);
    if (shared.isAcknowledged) watcher.onAcknowledged();
    return () => {
      if (shared.watchers.delete(watcher) && shared.isAcknowledged) this.#endUnused(name, shared);
    };
  }

  has(method: Parameters<PubsubSession['subscribe']>[0], params: readonly unknown[]): boolean {
    return this.#byName.has(nameOf(method, params));
  }

  #open(name: string, method: Parameters<PubsubSession['subscribe']>[0], params: readonly unknown[]): Shared {
    const shared: Shared = { watchers: new Set(), stop: () => {}, isAcknowledged: false };
    shared.stop = this.#line.subscribe(method, params, {
      onAcknowledged: () => {
        shared.isAcknowledged = true;
        this.#endUnused(name, shared); // not before: an equal one might be asked for meanwhile
        for (const watcher of [...shared.watchers]) watcher.onAcknowledged();
      },
      onNotification: (slot, value) => {
        for (const watcher of [...shared.watchers]) watcher.onNotification(slot, value);
      },
      onRejected: () => {
        this.#byName.delete(name);
        for (const watcher of [...shared.watchers]) watcher.onRejected();
      },
    });
    this.#byName.set(name, shared);
    return shared;
  }

  #endUnused(name: string, { watchers, stop }: Shared): void {
    if (watchers.size > 0 || !this.#byName.delete(name)) return;
    stop();
  }
}

const nameOf = (method: string, params: readonly unknown[]): string => toJson([method, params]);
