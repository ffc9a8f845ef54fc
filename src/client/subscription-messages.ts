import type { TopicName } from '../gateway/routes/index.ts';
import type { Commitment } from '../shared/domain/commitment.ts';
import { ERRORS } from '../shared/domain/gateway-error.ts';
import { buildRequestTarget } from './request-target.ts';
import type { Result } from './route-types.ts';
import { isErrorCode, SlotgateError } from './slotgate-error.ts';
import { parsePushFrame } from './verify/push-frame.ts';
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

export interface AccountSubscription<T extends Topic> {
  readonly topic: T;
  readonly address: string;
  readonly commitment?: Commitment | undefined;
  readonly onUpdate: (update: Update<T>) => void;
  /** Called if the gateway refuses the subscription, or an update fails verification. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** A message of the gateway about a subscription. */
export interface SubscriptionMessage {
  readonly type: string;
  readonly id: unknown;
  readonly address?: unknown;
  readonly ids?: readonly unknown[];
  readonly seq?: number;
  readonly reorg?: boolean;
  readonly error?: unknown;
  readonly message?: unknown;
  /** The seconds after which what was refused may succeed. */
  readonly retryAfter?: number;
  /** The body of the route's answer, byte for byte. */
  readonly answer: string | undefined;
}

/** Parses a message, and keeps its answer as the text that was signed. Undefined if the text is not a message. */
export function parseSubscriptionMessage(text: string): SubscriptionMessage | undefined {
  const frame = parsePushFrame(text);
  try {
    return { ...JSON.parse(frame?.metadata ?? text), answer: frame?.answer };
  } catch {
    return undefined;
  }
}

/** The most addresses that the gateway accepts in one message. */
export const MAX_ADDRESSES = 80;

export const topicKeyOf = ({ topic, commitment }: AccountSubscription<Topic>): string => `${topic} ${commitment}`;

export function subscriptionRequest(
  op: 'subscribe' | 'unsubscribe',
  id: number,
  { topic, commitment }: AccountSubscription<Topic>,
  addresses: readonly string[],
): string {
  return JSON.stringify({ op, topic, addresses, commitment, id });
}

/** Verifies the answer in a message. Rejects with ReceiptError. */
export async function verifyUpdate<T extends Topic>(
  message: SubscriptionMessage,
  subscription: AccountSubscription<T>,
  verifyAnswer: VerifyAnswer,
): Promise<Update<T>> {
  const { topic, address, commitment } = subscription;
  const request = `GET ${buildRequestTarget(`/${topic}/:addr`, { addr: address, commitment })}`;
  const verified = await verifyAnswer<Result<`/${T}/:addr`>>(message.answer ?? '', { request });
  return { ...verified, seq: message.seq ?? 0, reorg: message.reorg === true };
}

export function subscriptionErrorOf({ error, message }: SubscriptionMessage): SlotgateError {
  const code = isErrorCode(error) ? error : 'unreadable';
  return new SlotgateError(code, String(message), { status: code === 'unreadable' ? null : ERRORS[code].status });
}
