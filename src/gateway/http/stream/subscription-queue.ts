import type { Clock } from '../../../shared/domain/clock.ts';
import type { EventId } from '../../../shared/domain/event-id.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { MAX_ADDRESSES } from '../../../shared/domain/stream-protocol.ts';
import type { StreamSlot } from '../../access/limits/stream-quota.ts';
import type { AccountTopic } from '../../routes/stream-topics.ts';
import type { AccountTopics } from './account-topics.ts';
import type { ErrorSubject } from './error-frame.ts';
import type { StreamCaller } from './stream-caller.ts';
import type { SocketConnection } from './stream-connection.ts';
import { isAddress, type MessageId, type StreamMessage, type TopicList, topicOf } from './stream-message.ts';

export type SubscriptionMessage = Extract<
  StreamMessage,
  { readonly op: 'subscribe' | 'unsubscribe' | 'unsubscribeId' }
>;

export interface SubscriptionQueueOptions {
  readonly clock: Clock;
  readonly accountTopics: AccountTopics;
  readonly connection: SocketConnection;
  readonly caller: Pick<StreamCaller, 'maxSubscriptions' | 'charge' | 'giveBack'> & {
    readonly streamSlot: Pick<StreamSlot, 'consumeSubscribe'>;
  };
  readonly replyError: (id: MessageId, thrown: unknown, subject: ErrorSubject) => void;
}

/** What a message wants for one address, or for an id. */
type Step = AddressStep | { readonly op: 'unsubscribeId'; readonly id: string | number };

interface AddressStep {
  readonly op: 'subscribe' | 'unsubscribe';
  readonly id: MessageId;
  readonly topics: TopicList;
  readonly text: string;
  readonly since: EventId | null | undefined;
}

/** The first values of a connection that are read at one time. */
const MAX_READS = 40;

/** The steps in one turn of the event loop: about a millisecond of work. */
const MAX_STEPS_PER_TURN = 40;

/** It goes on only while the client receives what it is sent: a slow one causes neither reads nor unsent bytes. */
export class SubscriptionQueue {
  readonly #options: SubscriptionQueueOptions;
  #steps: Step[] = [];
  #reads = 0;
  #cancelTimer: (() => void) | undefined;
  #isTurnOver = false;

  constructor(options: SubscriptionQueueOptions) {
    this.#options = options;
  }

  /** As a whole or not at all, at a unit for each address. Throws `rate_limited` if too many wait, or few are left. */
  add(message: SubscriptionMessage): void {
    const { caller } = this.#options;
    const steps = stepsOf(message);
    const maxSteps = caller.maxSubscriptions + MAX_ADDRESSES;
    if (this.#steps.length + steps.length > maxSteps) {
      throw new GatewayError(
        'rate_limited',
        `${this.#steps.length} addresses of this connection wait for their turn: send the message again later`,
        { retryAfter: 1 },
      );
    }
    if (message.op === 'subscribe') caller.charge(message.topics.addresses.filter(isAddress).length);
    this.#steps.push(...steps);
    this.advance();
  }

  advance(): void {
    if (this.#isTurnOver || this.#cancelTimer !== undefined) return;
    for (let steps = 0; this.#reads < MAX_READS && this.#options.connection.hasRoom; steps++) {
      const [step] = this.#steps;
      if (step === undefined) return;
      if (steps === MAX_STEPS_PER_TURN) {
        this.#advanceNextTurn();
        return;
      }
      if (!this.#run(step)) return;
      this.#steps.shift();
    }
  }

  close(): void {
    this.#steps = [];
    this.#cancelTimer?.();
  }

  #run(step: Step): boolean {
    const { accountTopics, connection } = this.#options;
    const subject = step.op !== 'unsubscribeId' && step.topics.isBatch ? { address: step.text } : {};
    try {
      if (step.op === 'unsubscribeId') accountTopics.unsubscribeId(connection, step.id);
      else {
        const topic = topicOf(step.topics, step.text);
        if (step.op === 'subscribe') return this.#subscribe(topic, step, subject);
        accountTopics.unsubscribe(connection, topic, step.id);
      }
    } catch (thrown) {
      this.#fail(step, thrown, subject);
    }
    return true;
  }

  /** Replies with the error. The unit of an address for which there is no room is given back. */
  #fail({ op, id }: Step, thrown: unknown, subject: ErrorSubject): void {
    const { caller, replyError } = this.#options;
    const { code } = GatewayError.from(thrown);
    if (op === 'subscribe' && (code === 'overloaded' || code === 'rate_limited')) caller.giveBack(1);
    replyError(id, thrown, subject);
  }

  #subscribe(topic: AccountTopic, step: AddressStep, subject: ErrorSubject): boolean {
    const { accountTopics, connection, caller } = this.#options;
    const fault = accountTopics.findFault(connection, topic);
    if (fault !== undefined) throw fault;
    const waitMs = caller.streamSlot.consumeSubscribe();
    if (waitMs > 0) {
      this.#advanceIn(waitMs);
      return false;
    }
    this.#reads++;
    accountTopics
      .subscribe(connection, topic, step.id, step.topics.isBatch, step.since)
      .catch((thrown) => this.#fail(step, thrown, subject))
      .finally(() => {
        this.#reads--;
        this.#advanceNextTurn(); // the reads of cached values end in this turn
      });
    return true;
  }

  #advanceNextTurn(): void {
    if (this.#isTurnOver) return;
    this.#isTurnOver = true;
    setImmediate(() => {
      this.#isTurnOver = false;
      this.advance();
    });
  }

  #advanceIn(waitMs: number): void {
    this.#cancelTimer = this.#options.clock.after(waitMs, () => {
      this.#cancelTimer = undefined;
      this.advance();
    });
  }
}

const stepsOf = (message: SubscriptionMessage): readonly Step[] => {
  if (message.op === 'unsubscribeId') return [message];
  const { op, id, topics } = message;
  return topics.addresses.map((text, i) => ({ op, id, topics, text, since: topics.since?.[i] }));
};
