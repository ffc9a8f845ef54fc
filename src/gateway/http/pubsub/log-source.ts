import type { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { Deferred } from '../../../shared/runtime/deferred.ts';
import type { LogSource } from '../../live/logs/live-logs.ts';
import type { Source, SourceOptions } from './source.ts';
import type { SubscriptionRequest } from './subscription-request.ts';

/** Returns the transactions that mention an address. Throws `overloaded` if the caller can have no place for them. */
export function sourceOfLogs(
  logs: LogSource,
  { address, commitment }: Extract<SubscriptionRequest, { readonly kind: 'logs' }>,
  { caller, emit, onEnd }: SourceOptions,
): Source {
  const ready = new Deferred();
  ready.promise.catch(() => {}); // of nobody that waits any more
  let isReady = false;
  const subscriber = {
    onReady: () => {
      isReady = true;
      ready.resolve();
    },
    onLogs: (slot: number, transaction: string) => emit(`{"context":{"slot":${slot}},"value":${transaction}}`),
    onEnd: (reason: GatewayError) => (isReady ? onEnd(reason) : ready.reject(reason)),
  };
  const subscription = logs.subscribe(address, commitment, subscriber, caller.name);
  return {
    get ready() {
      return isReady ? undefined : ready.promise;
    },
    addCaller: (other) => subscription.addCaller(other.name),
    removeCaller: (other) => subscription.removeCaller(other.name),
    close: () => subscription.end(),
  };
}
