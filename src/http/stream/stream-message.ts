import { COMMITMENTS } from '../../domain/commitment.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { type AccountTopic, accountTopicOf, isTopicName } from '../../routes/stream-topics.ts';
import { address } from '../../routing/params.ts';

/** The client's own id of a message and its subscription. */
export type MessageId = string | number | null;

/** A client's message on the stream. `invalid`: a known operation with an invalid member. */
export type StreamMessage =
  | { readonly op: 'ping' }
  | { readonly op: 'subscribe' | 'unsubscribe'; readonly id: MessageId; readonly topic: AccountTopic }
  | { readonly op: 'invalid'; readonly id: MessageId; readonly error: GatewayError };

const KNOWN_MEMBERS: ReadonlySet<string> = new Set(['op', 'topic', 'address', 'commitment', 'id']);
const MAX_ID_LENGTH = 64;
const decoder = new TextDecoder('utf-8', { fatal: true });

/** Parses a message; undefined if it is not a JSON object with a known `op`. */
export function parseStreamMessage(bytes: ArrayBuffer): StreamMessage | undefined {
  const message = parseJsonObject(bytes);
  if (message?.['op'] === 'ping') return { op: 'ping' };
  const op = message?.['op'];
  if (message === undefined || (op !== 'subscribe' && op !== 'unsubscribe')) return undefined;
  const id = isMessageId(message['id']) ? message['id'] : null;
  try {
    return { op, id, topic: parseTopic(message) };
  } catch (thrown) {
    return { op: 'invalid', id, error: GatewayError.from(thrown) };
  }
}

function parseTopic(message: Readonly<Record<string, unknown>>): AccountTopic {
  const unknown = Object.keys(message).find((name) => !KNOWN_MEMBERS.has(name));
  if (unknown !== undefined) {
    throw new GatewayError('invalid_request', `a message has only the members ${[...KNOWN_MEMBERS].join(', ')}`);
  }
  const { topic, address: text, commitment, id = null } = message;
  if (!isMessageId(id))
    throw new GatewayError('invalid_request', 'id must be an integer or text of at most 64 characters');
  if (!isTopicName(topic)) throw new GatewayError('invalid_request', 'topic must be balance or account');
  const named = COMMITMENTS.find((known) => known === commitment);
  if (commitment !== undefined && named === undefined) {
    throw new GatewayError('invalid_request', `commitment must be one of ${COMMITMENTS.join(', ')}`);
  }
  return accountTopicOf(topic, address.parse(typeof text === 'string' ? text : undefined, 'address'), named);
}

const isMessageId = (id: unknown): id is MessageId =>
  id === null || Number.isSafeInteger(id) || (typeof id === 'string' && id.length <= MAX_ID_LENGTH);

function parseJsonObject(bytes: ArrayBuffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(decoder.decode(bytes));
    // An object with unknown members: each one that is used is checked above.
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
