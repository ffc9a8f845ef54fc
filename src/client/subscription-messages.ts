import type { Commitment } from '../domain/commitment.ts';
import { ERRORS } from '../domain/gateway-error.ts';
import { parsePushFrame } from '../receipts/push-frame.ts';
import type { TopicName } from '../routes/stream-topics.ts';
import { buildRequestTarget } from './request-target.ts';
import type { Result } from './route-types.ts';
import { isErrorCode, SlotgateError } from './slotgate-error.ts';
import type { VerifiedAnswer, VerifyAnswer } from './verify-answer.ts';

/** What can be subscribed to: the routes of one account. */
export type Topic = TopicName;

/** A change of an account, with the same proof as an answer of its route. */
export interface Update<T extends Topic> extends VerifiedAnswer<Result<`/${T}/:addr`>> {
  /** Counts the values of one connection: 0 is the one at the start. A number that is left out was overtaken. */
  readonly seq: number;
  /** True when the cluster took back what was told before; only at `processed`. */
  readonly reorg: boolean;
}

export interface AccountSubscription<T extends Topic> {
  readonly topic: T;
  readonly address: string;
  readonly commitment?: Commitment | undefined;
  readonly onUpdate: (update: Update<T>) => void;
  /** The gateway refuses the subscription, or an update could not be proven. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** A message about a subscription. */
export interface SubscriptionMessage {
  readonly type: string;
  readonly id: unknown;
  readonly seq?: number;
  readonly reorg?: boolean;
  readonly error?: unknown;
  readonly message?: unknown;
  /** The body of the route's answer, byte for byte. */
  readonly answer: string | undefined;
}

/** Reads a message; its answer stays the text that was signed. Undefined for what is no message. */
export function parseSubscriptionMessage(text: string): SubscriptionMessage | undefined {
  const frame = parsePushFrame(text);
  try {
    return { ...JSON.parse(frame?.metadata ?? text), answer: frame?.answer };
  } catch {
    return undefined;
  }
}

/** How a gateway is told to begin or to end. */
export function subscriptionRequest(
  op: 'subscribe' | 'unsubscribe',
  id: number,
  subscription: AccountSubscription<Topic>,
): string {
  const { topic, address, commitment } = subscription;
  return JSON.stringify({ op, topic, address, commitment, id });
}

/** Proves what a message brings. Throws ReceiptError. */
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

/** Why a subscription was refused. */
export function subscriptionErrorOf({ error, message }: SubscriptionMessage): SlotgateError {
  const code = isErrorCode(error) ? error : 'unreadable';
  return new SlotgateError(code, String(message), { status: code === 'unreadable' ? null : ERRORS[code].status });
}
