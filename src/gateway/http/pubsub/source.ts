import type { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { ReadMethod } from '../../../shared/domain/rpc-methods.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import type { SubscriptionCaller } from '../stream/stream-connection.ts';

/** What notifies of one subject, for all clients that subscribe to it with equal parameters. */
export interface Source {
  /** Resolves when what follows is notified; undefined once that holds. Rejects with GatewayError. */
  readonly ready: Promise<void> | undefined;
  /** Has a place of the account count for another caller, too. */
  addCaller(caller: SubscriptionCaller): void;
  /** Removes a caller; another one must be left. */
  removeCaller(caller: SubscriptionCaller): void;
  /** Begins its time again, if that is limited: a client has subscribed that may be one of its own. */
  renew?(): void;
  /** Continues where there was no room. Called after the answer to the subscription, and when the client has room again. */
  resume?(): void;
  close(lastCaller: SubscriptionCaller): void;
}

export interface SourceOptions {
  /** The caller that subscribes first. */
  readonly caller: SubscriptionCaller;
  /** Notifies of a result, which is JSON. */
  readonly emit: (result: string) => void;
  /** Notifies the first client only. Returns false if it has no room, or was not answered yet: then {@link Source.resume} follows. */
  readonly offer: (result: string) => boolean;
  /** Called when nothing is waited for any more: who subscribes from now on has another source. */
  readonly onExpired: () => void;
  /** Called when no more results can come. */
  readonly onEnd: (reason: GatewayError) => void;
}

/** Returns a source that needs no place for other callers. */
export const sourceOf = (source: Pick<Source, 'close'> & Partial<Source>): Source => ({
  ready: undefined,
  addCaller() {},
  removeCaller() {},
  ...source,
});

/** Reads by a node's method, through the cache, as work of the gateway itself. */
export type ReadRpc = (method: ReadMethod, params: readonly unknown[], minSlot?: Slot) => Promise<string | Buffer>;
