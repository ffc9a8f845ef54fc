import type { TopicName } from '../gateway/routes/index.ts';
import type { Commitment } from '../shared/domain/commitment.ts';
import { ERRORS } from '../shared/domain/gateway-error.ts';
import { tryOrUndefined } from '../shared/domain/try-or-undefined.ts';
import { buildRequestTarget } from './request-target.ts';
import type { Result } from './route-types.ts';
import { isErrorCode, SlotgateError } from './slotgate-error.ts';
import type { StateBefore } from './verify/event-chain.ts';
import { parsePushFrame, stateBeforeIn } from './verify/push-frame.ts';
import type { VerifiedAnswer, VerifyAnswer } from './verify-answer.ts';

/** The topics of a subscription: routes of one account. */
export type Topic = TopicName;

/** A change of an account, verified like an answer of its route. */
export interface Update<T extends Topic> extends VerifiedAnswer<Result<`/${T}/:addr`>> {
  /** The number of the value on its connection; 0 is the value at the start. A missing number was skipped for a newer value. */
  readonly seq: number;
  /** True if the cluster reverted the previous value; only at `processed`. */
  readonly reorg: boolean;
}

/** The blocks whose changes a subscription has lost for good. */
export interface LostChanges {
  /** Changes up to this slot were received. */
  readonly from: number;
  /** The slot of the value that follows. */
  readonly to: number;
  readonly message: string;
}

export interface AccountSubscription<T extends Topic> {
  readonly topic: T;
  readonly address: string;
  readonly commitment?: Commitment | undefined;
  readonly onUpdate: (update: Update<T>) => void;
  /**
   * True reports every change, in the order of the blocks, each once, also those during a reconnect or a restart of the gateway;
   * not at `processed`. Default: a slow reader gets the newest value only.
   */
  readonly resumes?: boolean | undefined;
  /** Called when a subscription that resumes may miss changes; the chapter on the SDK lists when. */
  readonly onLost?: ((lost: LostChanges) => void) | undefined;
  /** Called if the gateway refuses the subscription, or an update fails verification. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

type MessageId = number | string | null;

/** The members of a message that are read from its JSON. */
interface MessageMembers {
  readonly type: string;
  readonly id?: MessageId;
  readonly address?: string;
  readonly ids?: readonly MessageId[];
  readonly seq?: number;
  /** The id of an event, behind which a subscription resumes. */
  readonly event?: string;
  readonly gap?: LostChanges | null;
  readonly reorg?: boolean;
  readonly error?: string;
  readonly message?: string;
  /** The seconds after which what was refused may succeed. */
  readonly retryAfter?: number;
}

/** A message of the gateway about a subscription. */
export interface SubscriptionMessage extends MessageMembers {
  /** The state before an event. */
  readonly before: StateBefore | undefined;
  /** The body of the route's answer, byte for byte. */
  readonly answer: string | undefined;
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isId = (value: unknown): boolean => value === null || isText(value) || Number.isFinite(value);

/** What each member must be where a message has it: nobody has signed it. The compiler keeps the list complete. */
const MEMBER_CHECKS: { readonly [M in keyof MessageMembers]-?: (value: unknown) => boolean } = {
  type: isText,
  id: isId,
  address: isText,
  ids: (value) => Array.isArray(value) && value.every(isId),
  seq: Number.isSafeInteger,
  event: isText,
  gap: (value) => value === null || isLostChanges(Object(value)),
  reorg: (value) => typeof value === 'boolean',
  error: isText,
  message: isText,
  retryAfter: Number.isFinite,
};

const isLostChanges = ({ from, to, message }: Record<string, unknown>): boolean =>
  Number.isSafeInteger(from) && Number.isSafeInteger(to) && isText(message);

const isMessage = (value: unknown): value is MessageMembers =>
  Object.hasOwn(Object(value), 'type') &&
  Object.entries(MEMBER_CHECKS).every(
    ([name, check]) => !Object.hasOwn(Object(value), name) || check(Object(value)[name]),
  );

/** Parses a message, and keeps its answer as the text that was signed. Undefined if the text is not a message. */
export function parseSubscriptionMessage(text: string): SubscriptionMessage | undefined {
  const frame = parsePushFrame(text);
  const members: unknown = tryOrUndefined(() => JSON.parse(frame?.metadata ?? text));
  return isMessage(members)
    ? { ...members, before: frame && stateBeforeIn(frame.metadata), answer: frame?.answer }
    : undefined;
}

export const topicKeyOf = ({ topic, commitment, resumes }: AccountSubscription<Topic>): string =>
  `${topic} ${commitment} ${resumes === true}`;

export function subscriptionRequest(
  op: 'subscribe' | 'unsubscribe',
  id: number,
  { topic, commitment }: AccountSubscription<Topic>,
  addresses: readonly string[],
  since?: readonly (string | null)[],
): string {
  return JSON.stringify({ op, topic, addresses, commitment, id, since });
}

/** Verifies the answer in a message. Rejects with ReceiptError. */
export async function verifyUpdate<T extends Topic>(
  message: SubscriptionMessage,
  subscription: AccountSubscription<T>,
  verifyAnswer: VerifyAnswer,
): Promise<Update<T>> {
  const { topic, address, commitment, resumes } = subscription;
  const named = resumes === true && commitment === 'confirmed' ? undefined : commitment;
  const target = buildRequestTarget(`/${topic}/:addr`, { addr: address, commitment: named });
  const isEvent = resumes === true;
  // An event is what has been: its receipt may have any age. It comes from one feed, so it is the word of one operator.
  const ofEvent = isEvent && { isFinal: () => true, minAgreed: 1 };
  const expected = { request: `${isEvent ? 'SUB' : 'GET'} ${target}`, ...ofEvent };
  const verified = await verifyAnswer<Result<`/${T}/:addr`>>(message.answer ?? '', expected);
  return { ...verified, seq: message.seq ?? 0, reorg: message.reorg === true };
}

export function subscriptionErrorOf({ error, message = '' }: SubscriptionMessage): SlotgateError {
  const code = isErrorCode(error) ? error : 'unreadable';
  return new SlotgateError(code, message, { status: code === 'unreadable' ? null : ERRORS[code].status });
}
