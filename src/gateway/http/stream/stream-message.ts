import { COMMITMENTS, type Commitment } from '../../../shared/domain/commitment.ts';
import { type EventId, parseEventId } from '../../../shared/domain/event-id.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { MAX_ADDRESSES } from '../../../shared/domain/stream-protocol.ts';
import { address } from '../../routes/routing/params.ts';
import { type AccountTopic, accountTopicOf, isTopicName, type TopicName } from '../../routes/stream-topics.ts';

/** The client's own id of a message and its subscription. */
export type MessageId = string | number | null;

export interface TopicList {
  readonly name: TopicName;
  readonly commitment: Commitment | undefined;
  /** The addresses as the client wrote them. */
  readonly addresses: readonly string[];
  /** True if the message has `addresses`: a frame about one of them then names it. */
  readonly isBatch: boolean;
  /** Behind which event of each address the client wants all; null where it has none; undefined for the newest values only. */
  readonly since: readonly (EventId | null)[] | undefined;
}

/** A client's message on the stream. `invalid`: a known operation with an invalid member. */
export type StreamMessage =
  | { readonly op: 'ping'; readonly id: MessageId }
  | { readonly op: 'subscribe' | 'unsubscribe'; readonly id: MessageId; readonly topics: TopicList }
  | { readonly op: 'unsubscribeId'; readonly id: string | number }
  | { readonly op: 'invalid'; readonly id: MessageId; readonly error: GatewayError };

const KNOWN_MEMBERS: ReadonlySet<string> = new Set([
  'op',
  'topic',
  'address',
  'addresses',
  'commitment',
  'id',
  'since',
]);
const MAX_ID_LENGTH = 64;
const decoder = new TextDecoder('utf-8', { fatal: true });

/** Parses a message; undefined if it is not a JSON object with a known `op`. */
export function parseStreamMessage(bytes: ArrayBuffer): StreamMessage | undefined {
  const message = parseJsonObject(bytes);
  const op = message?.['op'];
  if (message === undefined || (op !== 'ping' && op !== 'subscribe' && op !== 'unsubscribe')) return undefined;
  const id = isMessageId(message['id']) ? message['id'] : null;
  if (op === 'ping') return { op, id };
  try {
    checkMembers(message);
    if (op === 'unsubscribe' && namesOnlyId(message)) return { op: 'unsubscribeId', id: namedId(id) };
    return { op, id, topics: parseTopics(message) };
  } catch (thrown) {
    return { op: 'invalid', id, error: GatewayError.from(thrown) };
  }
}

export function isAddress(text: string): boolean {
  try {
    address.parse(text, 'address');
    return true;
  } catch {
    return false;
  }
}

/** Returns the topic of one address of a message. Throws `invalid_address`. */
export const topicOf = ({ name, commitment }: TopicList, text: string): AccountTopic =>
  accountTopicOf(name, address.parse(text, 'address'), commitment);

function checkMembers(message: Readonly<Record<string, unknown>>): void {
  const unknown = Object.keys(message).find((name) => !KNOWN_MEMBERS.has(name));
  if (unknown !== undefined) {
    throw new GatewayError('invalid_request', `a message has only the members ${[...KNOWN_MEMBERS].join(', ')}`);
  }
  if (!isMessageId(message['id'] ?? null))
    throw new GatewayError('invalid_request', 'id must be an integer or text of at most 64 characters');
}

const namesOnlyId = (message: Readonly<Record<string, unknown>>): boolean =>
  Object.keys(message).every((name) => name === 'op' || name === 'id');

function namedId(id: MessageId): string | number {
  if (id !== null) return id;
  throw new GatewayError('invalid_request', 'name what to unsubscribe from: an id, or topic and address or addresses');
}

function parseTopics(message: Readonly<Record<string, unknown>>): TopicList {
  const { topic: name, address: single, addresses, commitment, since } = message;
  if (!isTopicName(name)) throw new GatewayError('invalid_request', 'topic must be balance or account');
  const named = COMMITMENTS.find((known) => known === commitment);
  if (commitment !== undefined && named === undefined) {
    throw new GatewayError('invalid_request', `commitment must be one of ${COMMITMENTS.join(', ')}`);
  }
  if (since !== undefined && named === 'processed')
    throw new GatewayError(
      'invalid_request',
      'since is for confirmed and finalized: a fork may take back what is processed',
    );
  if (addresses === undefined) {
    const text = address.parse(typeof single === 'string' ? single : undefined, 'address');
    return { name, commitment: named, addresses: [text], isBatch: false, since: parseSince(since, 1) };
  }
  if (single !== undefined) throw new GatewayError('invalid_request', 'send either address or addresses');
  if (!isAddressList(addresses))
    throw new GatewayError('invalid_request', `addresses must be a list of 1 to ${MAX_ADDRESSES} texts`);
  return { name, commitment: named, addresses, isBatch: true, since: parseSince(since, addresses.length) };
}

/** Parses the id of an event, or null for none yet: one for all addresses, or a list with one for each. */
function parseSince(since: unknown, count: number): TopicList['since'] {
  if (since === undefined) return undefined;
  const texts: readonly unknown[] = Array.isArray(since) ? since : Array.from({ length: count }, () => since);
  const ids = texts.map((text) => (text === null ? null : typeof text === 'string' ? parseEventId(text) : undefined));
  if (ids.length !== count || !ids.every((id) => id !== undefined))
    throw new GatewayError(
      'invalid_request',
      'since must be null or the id of an event, or a list with one for each address',
    );
  return ids;
}

const isAddressList = (list: unknown): list is readonly string[] =>
  Array.isArray(list) &&
  list.length > 0 &&
  list.length <= MAX_ADDRESSES &&
  list.every((entry) => typeof entry === 'string');

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
