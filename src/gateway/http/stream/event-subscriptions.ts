import { formatPushFrame } from '../../../client/verify/index.ts';
import { type EventId, formatEventId } from '../../../shared/domain/event-id.ts';
import type { AccountTopic } from '../../routes/stream-topics.ts';
import { errorFrame } from './error-frame.ts';
import type { EventChannels, Membership } from './event-channels.ts';
import type { SealedEvent } from './event-sealer.ts';
import type { StreamConnection } from './stream-connection.ts';
import type { MessageId } from './stream-message.ts';

interface EventSubscription {
  readonly topic: AccountTopic;
  readonly id: MessageId;
  seq: number;
  membership: Membership | undefined;
}

/** The subscriptions of WebSockets to events: those whose message has `since`. */
export class EventSubscriptions {
  readonly #channels: EventChannels;
  readonly #byConnection = new Map<StreamConnection, Map<string, EventSubscription>>();

  constructor(channels: EventChannels) {
    this.#channels = channels;
  }

  countOf(connection: StreamConnection): number {
    return this.#byConnection.get(connection)?.size ?? 0;
  }

  has(connection: StreamConnection, { request }: AccountTopic): boolean {
    return this.#byConnection.get(connection)?.has(request.key) === true;
  }

  /**
   * Replies, and then sends what is behind `since`; where that is null, the state and what comes. Throws `overloaded` if the
   * account can have no place.
   */
  subscribe(
    connection: StreamConnection,
    topic: AccountTopic,
    { id, isBatch, since }: { readonly id: MessageId; readonly isBatch: boolean; readonly since: EventId | null },
  ): void {
    const { name, address, commitment, request } = topic;
    const subscription: EventSubscription = { topic, id, seq: 0, membership: undefined };
    subscription.membership = this.#channels.join({ topics: [{ name, address }], commitment }, since ?? undefined, {
      callerName: connection.caller.name,
      deliver: (events, end, isMark) => deliver(connection, subscription, events, end, isMark),
      onEnd: (reason) => {
        this.#remove(connection, request.key);
        connection.reply(() => errorFrame(id, reason, isBatch ? { address } : {}));
      },
    });
    connection.reply(
      () => `{"type":"subscribed","id":${JSON.stringify(id)},"topic":"${name}","address":"${address}","seq":0}`,
    );
    const ofConnection = this.#byConnection.get(connection) ?? new Map<string, EventSubscription>();
    this.#byConnection.set(connection, ofConnection.set(request.key, subscription));
  }

  unsubscribe(connection: StreamConnection, { request }: AccountTopic): void {
    this.#byConnection.get(connection)?.get(request.key)?.membership?.leave();
    this.#remove(connection, request.key);
  }

  /** Returns the topics of the subscriptions with an id. */
  topicsOf(connection: StreamConnection, id: MessageId): readonly AccountTopic[] {
    const all = [...(this.#byConnection.get(connection)?.values() ?? [])];
    return all.filter((subscription) => subscription.id === id).map(({ topic }) => topic);
  }

  /** Continues with those that a slow connection had no room for. */
  resume(connection: StreamConnection): void {
    for (const { membership } of this.#byConnection.get(connection)?.values() ?? []) membership?.resume();
  }

  removeConnection(connection: StreamConnection): void {
    for (const { membership } of this.#byConnection.get(connection)?.values() ?? []) membership?.leave();
    this.#byConnection.delete(connection);
  }

  #remove(connection: StreamConnection, key: string): void {
    const ofConnection = this.#byConnection.get(connection);
    ofConnection?.delete(key);
    if (ofConnection?.size === 0) this.#byConnection.delete(connection);
  }
}

/** Sends as many frames as there is room for. */
function deliver(
  connection: StreamConnection,
  subscription: EventSubscription,
  events: readonly SealedEvent[],
  end: EventId,
  isMark: boolean,
): EventId | undefined {
  const name = `"id":${JSON.stringify(subscription.id)},"address":"${subscription.topic.address}"`;
  let reached: EventId | undefined;
  for (const { event, topic, members, body } of events) {
    const { slot, index, before } = event;
    // The state of one topic has the id behind which its first change is.
    const id = before === null ? `,"event":"${formatEventId({ slot, index })}"` : '';
    const text = formatPushFrame(topic.name, `${name},"seq":${subscription.seq + 1}${id}${members}`, body);
    if (!connection.push(text)) return reached;
    subscription.seq++;
    reached = { slot, index };
  }
  if (isMark) connection.push(`{"type":"mark",${name},"event":"${formatEventId(end)}"}`);
  return end;
}
