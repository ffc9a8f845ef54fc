import type { Commitment } from '../domain/commitment.ts';
import { ERRORS } from '../domain/gateway-error.ts';
import { parsePushFrame } from '../receipts/push-frame.ts';
import type { TopicName } from '../routes/topics.ts';
import type { Result } from './declared.ts';
import type { Prove, Proven } from './proof.ts';
import { isErrorCode, SlotgateError } from './slotgate-error.ts';
import { targetOf } from './target.ts';

/** What can be subscribed to: the routes of one account. */
export type Topic = TopicName;

/** A change of an account, with the same proof as an answer of its route. */
export interface Update<T extends Topic> extends Proven<Result<`/${T}/:addr`>> {
  /** Counts the values of one connection: 0 is the one at the start. A number that is left out was overtaken. */
  readonly seq: number;
  /** True when the cluster took back what was told before; only at `processed`. */
  readonly reorg: boolean;
}

export interface Subscription<T extends Topic> {
  readonly topic: T;
  readonly address: string;
  readonly commitment?: Commitment | undefined;
  readonly onUpdate: (update: Update<T>) => void;
  /** The gateway refuses the subscription, or an update could not be proven. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** A message about a subscription. */
export interface Told {
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
export function readMessage(text: string): Told | undefined {
  const push = parsePushFrame(text);
  try {
    return { ...JSON.parse(push?.metadata ?? text), answer: push?.answer };
  } catch {
    return undefined;
  }
}

/** How a gateway is told to begin or to end. */
export function wish(op: 'subscribe' | 'unsubscribe', id: number, of: Subscription<Topic>): string {
  const { topic, address, commitment } = of;
  return JSON.stringify({ op, topic, address, commitment, id });
}

/** Proves what a message brings. Throws ReceiptError. */
export async function updateIn<T extends Topic>(told: Told, of: Subscription<T>, prove: Prove): Promise<Update<T>> {
  const { topic, address, commitment } = of;
  const request = `GET ${targetOf(`/${topic}/:addr`, { addr: address, commitment })}`;
  const proven = await prove<Result<`/${T}/:addr`>>(told.answer ?? '', { request });
  return { ...proven, seq: told.seq ?? 0, reorg: told.reorg === true };
}

/** Why a subscription was refused. */
export function refusalIn({ error, message }: Told): SlotgateError {
  const code = isErrorCode(error) ? error : 'unreadable';
  return new SlotgateError(code, String(message), { status: code === 'unreadable' ? null : ERRORS[code].status });
}
