import type { Clock } from '../../../shared/domain/clock.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { Deferred } from '../../../shared/runtime/deferred.ts';
import { sleep } from '../../../shared/runtime/sleep.ts';
import { jsonRpcError } from '../../routes/routing/json-rpc-form.ts';
import type { EngineSocket } from '../engine/engine.ts';
import type { StreamCaller } from '../stream/stream-caller.ts';
import { type PubsubMessage, type PubsubRequest, parseMessage } from './pubsub-message.ts';
import { isUnsubscribe, parseSubscription, type SubscriptionRequest } from './subscription-request.ts';
import type { Subscriber, Subscriptions } from './subscriptions.ts';

export interface PubsubClientOptions {
  readonly clock: Clock;
  readonly subscriptions: Subscriptions;
  readonly onInternalError: (requestId: string, thrown: unknown) => void;
}

interface OpenSocket {
  readonly socket: Pick<EngineSocket<unknown>, 'send' | 'getBufferedAmount'>;
  /** The unsent bytes above which the client is too slow. */
  readonly maxUnsentBytes: number;
  /** Called when something waits that may. */
  readonly onSlow: () => void;
  /** Called when the connection must be closed: something could not be sent, or a subscription has ended. */
  readonly onLost: (reason: string) => void;
  /** Called when the connection must be closed: the client sends too many messages. */
  readonly onFlood: () => void;
}

/** Sends the answer to a request; resolves once it is sent where others have to be waited for. */
type Reply = (answer: string) => Promise<void> | void;

/**
 * How long refusals over the pace of messages wait, at most, and those that have cost a unit. @solana/web3.js repeats
 * immediately what is refused, and never returns to its program if the connection closes while it does.
 */
const REFUSAL_MS = 1000;
/** A client with more refusals that wait is not one that repeats: its connection is closed. */
const MAX_REFUSALS = 1000;

const NO_REQUESTS: PubsubMessage = { requests: [], isBatch: false };

/** One client of pubsub: its requests, and what it is sent. It sends nothing before the socket is open and after it is closed. */
export class PubsubClient implements Subscriber {
  readonly caller: StreamCaller;
  readonly #options: PubsubClientOptions;
  #open: OpenSocket | undefined;
  /** The subscriptions that wait for their turn. */
  #waiting = 0;
  /** Sends the refusals that wait. */
  #refusals: (() => void)[] = [];

  constructor(caller: StreamCaller, options: PubsubClientOptions) {
    this.caller = caller;
    this.#options = options;
  }

  open(socket: OpenSocket): void {
    this.#open = socket;
  }

  close(): void {
    this.#open = undefined;
    this.#options.subscriptions.removeSubscriber(this);
  }

  send(text: string): void {
    if (this.#open === undefined) return;
    const { socket, maxUnsentBytes, onLost } = this.#open;
    if (socket.getBufferedAmount() <= maxUnsentBytes) socket.send(text);
    else this.#lose(onLost, 'too slow: a notification could not be sent');
  }

  offer(text: string): boolean {
    if (this.#open === undefined) return false;
    const { socket, maxUnsentBytes, onSlow } = this.#open;
    if (socket.getBufferedAmount() > maxUnsentBytes) {
      onSlow();
      return false;
    }
    socket.send(text);
    return true;
  }

  /** Sends what has waited, after the client has received all that was sent. */
  resume(): void {
    this.#options.subscriptions.resume(this);
  }

  onEnded({ message }: GatewayError): void {
    if (this.#open !== undefined) this.#lose(this.#open.onLost, message);
  }

  /** Handles one message: a request, or a batch of them. */
  handle(bytes: ArrayBuffer): void {
    const message = parseMessage(Buffer.from(bytes));
    if (message === undefined) this.send('{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"},"id":null}');
    const { requests, isBatch } = message ?? NO_REQUESTS;
    if (requests.length === 0) this.#consumeMessage();
    const reply = isBatch ? this.#replyTogether(requests) : (answer: string) => this.send(answer);
    for (const request of requests) {
      if (this.#open === undefined) return;
      this.#handleOne(request, reply);
    }
  }

  /** The answers to a batch are one message, as of a node. What it subscribes to is notified from then on. */
  #replyTogether(requests: readonly PubsubRequest[]): Reply {
    const expected = requests.filter(({ id }) => id !== undefined).length;
    const answers: string[] = [];
    const sent = new Deferred();
    return (answer) => {
      answers.push(answer);
      if (answers.length === expected) {
        this.send(`[${answers.join()}]`);
        sent.resolve();
      }
      return sent.promise;
    };
  }

  /** Begins a subscription, which has a pace of its own, or ends one, which costs nothing. All else counts as a message. */
  #handleOne(request: PubsubRequest, reply: Reply): void {
    const { id } = request;
    if (id === undefined)
      this.#consumeMessage(); // such as the pings of clients
    else
      try {
        const [method, params] = callOf(request);
        if (isUnsubscribe(method)) {
          this.#options.subscriptions.unsubscribe(this, params[0]);
          void reply(`{"jsonrpc":"2.0","result":true,"id":${id}}`);
        } else void this.#subscribe(id, parseSubscription(method, params), reply);
      } catch (thrown) {
        this.#refuse(id, thrown, reply);
      }
  }

  /** Answers with an error, which counts as a message. */
  #refuse(id: string, thrown: unknown, reply: Reply): void {
    const error = this.#errorOf(id, thrown);
    if (this.caller.streamSlot.consumeMessage() === 'handle') void reply(error);
    else this.#refuseLater(error, reply);
  }

  #refuseLater(error: string, reply: Reply): void {
    if (this.#refusals.push(() => void reply(error)) > MAX_REFUSALS) this.#open?.onFlood();
    else if (this.#refusals.length === 1) this.#options.clock.after(REFUSAL_MS, () => this.#sendRefusals());
  }

  #sendRefusals(): void {
    const refusals = this.#refusals;
    this.#refusals = [];
    for (const send of refusals) send();
  }

  /** Counts a message that has no answer. A flood of those ends the connection. */
  #consumeMessage(): void {
    if (this.caller.streamSlot.consumeMessage() === 'close') this.#open?.onFlood();
  }

  async #subscribe(id: string, request: SubscriptionRequest, reply: Reply): Promise<void> {
    const { caller } = this;
    const { subscriptions } = this.#options;
    let isCharged = false;
    try {
      if (subscriptions.countOf(this) + this.#waiting >= caller.maxSubscriptions)
        throw new GatewayError('rate_limited', `a connection may have ${caller.maxSubscriptions} subscriptions`);
      caller.charge(1);
      isCharged = true;
      this.#waiting++;
      // a client opens all that it has in as many messages, when it connects
      for (let waitMs = this.#turnMs(); waitMs > 0; waitMs = this.#turnMs()) await sleep(this.#options.clock, waitMs);
      this.#waiting--; // what follows counts it in the same turn
      if (this.#open === undefined) return;
      await subscriptions.subscribe(this, request, (subscription) =>
        reply(`{"jsonrpc":"2.0","result":${subscription},"id":${id}}`),
      );
    } catch (thrown) {
      if (this.#open === undefined) return;
      if (isCharged) this.#refuseLater(this.#errorOf(id, thrown), reply);
      else this.#refuse(id, thrown, reply);
    }
  }

  /** Returns the milliseconds until the caller may subscribe; 0 for now, and once the connection is closed. */
  #turnMs(): number {
    return this.#open === undefined ? 0 : this.caller.streamSlot.consumeSubscribe();
  }

  #errorOf(id: string, thrown: unknown): string {
    const error = GatewayError.from(thrown);
    if (error.code === 'internal_error') this.#options.onInternalError('pubsub', error.cause ?? error);
    return jsonRpcError(id, error);
  }

  /** Ends what the client has here. Its connection is closed, so that it subscribes again, to all or elsewhere. */
  #lose(onLost: (reason: string) => void, reason: string): void {
    this.close();
    onLost(reason);
  }
}

/** Returns the method and the parameters of a request. Throws `invalid_request` or `invalid_params`. */
function callOf({ jsonrpc, method, params, isOfStream }: PubsubRequest): readonly [string, readonly unknown[]] {
  if (isOfStream)
    throw new GatewayError('invalid_request', 'this is Solana pubsub: slotgate has its own stream at /api/v1/stream');
  if (jsonrpc !== '2.0' || typeof method !== 'string')
    throw new GatewayError('invalid_request', 'send {"jsonrpc":"2.0","id","method","params"}');
  if (!Array.isArray(params)) throw new GatewayError('invalid_params', '`params` should be an array');
  return [method, params];
}
