import type { Commitment } from '../../../shared/domain/commitment.ts';
import { type EventId, formatEventId } from '../../../shared/domain/event-id.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { Deferred } from '../../../shared/runtime/deferred.ts';
import type { EventChannels, Membership } from '../events/event-channels.ts';
import type { SealedEvent } from '../events/event-sealer.ts';
import { type AccountView, readAccount, writeAccount } from './account-view.ts';
import { type Source, type SourceOptions, sourceOf } from './source.ts';
import type { EventOptions } from './subscription-request.ts';

export interface SubscribedAccount {
  readonly address: string;
  readonly commitment: Commitment;
  readonly view: AccountView;
}

/**
 * Returns the events of an account for one client, the first of the source. `hasFeed`: whether a feed is configured. Throws
 * `overloaded` if the account can have no place.
 */
export function sourceOfEvents(
  channels: Pick<EventChannels, 'join'>,
  { address, commitment, view }: SubscribedAccount,
  { since, hasReceipts }: EventOptions,
  { caller, offer, onEnd }: SourceOptions,
  hasFeed: () => boolean,
): Source {
  let membership: Membership | undefined;
  let isReady = false;
  const ready = new Deferred();
  ready.promise.catch(() => {}); // of nobody that waits any more
  const end = (reason: GatewayError): void => {
    membership?.leave();
    if (isReady) onEnd(reason);
    else ready.reject(reason);
  };
  membership = channels.join({ topics: [{ name: 'account', address }], commitment }, since ?? undefined, {
    callerName: caller.name,
    deliver(events, known) {
      const results = events.flatMap((event) => resultOf(event, view, hasReceipts) ?? []);
      if (results.length < events.length) {
        end(hasFeed() ? feedIsDown() : bytesUnknown());
        return undefined;
      }
      isReady = true;
      ready.resolve();
      let reached: EventId | undefined;
      for (const [i, { event }] of events.entries()) {
        if (!offer(results[i] ?? '')) return reached;
        reached = { slot: event.slot, index: event.index };
      }
      return known;
    },
    onEnd: end,
  });
  return sourceOf({
    ready: ready.promise,
    resume: () => membership?.resume(),
    close: () => membership?.leave(),
  });
}

/** Returns what a node notifies of, and what slotgate adds; undefined if the view wants bytes of data that were parsed. */
function resultOf({ event, members, body }: SealedEvent, view: AccountView, hasReceipts: boolean): string | undefined {
  const value = writeAccount(readAccount(event.result), view);
  if (value === undefined) return undefined;
  const id = `"event":"${formatEventId(event)}"`;
  const named = event.before === null ? `${id}${members}` : hasReceipts ? members.slice(1) : id; // a change names its id itself
  const answer = hasReceipts ? `,"answer":${body}` : '';
  return `{"context":{"slot":${event.slot}},"value":${value},"slotgate":{${named}${answer}}}`;
}

const feedIsDown = (): GatewayError =>
  new GatewayError('upstream_unavailable', 'the Geyser feed is down, which has the bytes of what a node parses', {
    retryAfter: 1,
  });

const bytesUnknown = (): GatewayError =>
  new GatewayError(
    'invalid_params',
    'without a Geyser feed, slotgate has no bytes of what a node parses: use the encoding jsonParsed',
  );
