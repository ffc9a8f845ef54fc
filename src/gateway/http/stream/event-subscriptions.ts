import { formatPushFrame } from '../../../client/verify/index.ts';
import { type EventId, formatEventId } from '../../../shared/domain/event-id.ts';
import type { AccountTopic } from '../../routes/stream-topics.ts';
import type { EventChannels, EventSubscriber, Membership } from '../events/event-channels.ts';
import type { StreamConnection } from './stream-connection.ts';
import type { MessageId } from './stream-message.ts';

interface EventOptions extends Pick<EventSubscriber, 'onEnd'> {
  readonly id: MessageId;
  /** Behind which event all are sent; null for the state, and what comes. */
  readonly since: EventId | null;
}

/** Replies to the message of a WebSocket that has `since`, and sends events. Throws `overloaded` if the account can have no place. */
export function subscribeToEvents(
  channels: Pick<EventChannels, 'join'>,
  connection: StreamConnection,
  { name, address, commitment }: AccountTopic,
  { id, since, onEnd }: EventOptions,
): Membership {
  const subject = `"id":${JSON.stringify(id)},"address":"${address}"`;
  let seq = 0;
  /** Sends as many frames as there is room for. */
  const deliver: EventSubscriber['deliver'] = (events, end, isMark) => {
    let reached: EventId | undefined;
    for (const { event, topic, members, body } of events) {
      const { slot, index, before } = event;
      // The state of one topic has the id behind which its first change is.
      const eventId = before === null ? `,"event":"${formatEventId({ slot, index })}"` : '';
      const text = formatPushFrame(topic.name, `${subject},"seq":${seq + 1}${eventId}${members}`, body);
      if (!connection.push(text)) return reached;
      seq++;
      reached = { slot, index };
    }
    if (isMark) connection.push(`{"type":"mark",${subject},"event":"${formatEventId(end)}"}`);
    return end;
  };
  const callerName = connection.caller.name;
  const about = { topics: [{ name, address }], commitment };
  const membership = channels.join(about, since ?? undefined, { callerName, deliver, onEnd });
  connection.reply(
    () => `{"type":"subscribed","id":${JSON.stringify(id)},"topic":"${name}","address":"${address}","seq":0}`,
  );
  return membership;
}
