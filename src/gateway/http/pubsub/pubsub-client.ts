import type { Clock } from '../../../shared/domain/clock.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { jsonRpcError } from '../../routes/routing/json-rpc-form.ts';
import type { EngineSocket } from '../engine/engine.ts';
import type { StreamCaller } from '../stream/stream-caller.ts';
import { parseSubscription } from './subscription-request.ts';
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
  /** Called when the connection must be closed: something could not be sent, or a subscription has ended. */
  readonly onLost: (reason: string) => void;
}

/** The members of a request that are used. */
interface PubsubRequest {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** One client of pubsub: its requests, and what it is sent. It sends nothing before the socket is open and after it is closed. */
export class PubsubClient implements Subscriber {
  readonly caller: StreamCaller;
  readonly #options: PubsubClientOptions;
  #open: OpenSocket | undefined;
  /** The subscriptions that wait for their turn. */
  #waiting = 0;

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

  onEnded({ message }: GatewayError): void {
    if (this.#open !== undefined) this.#lose(this.#open.onLost, message);
  }

  /** Handles one message. Returns false if the client sends too many. */
  handle(bytes: ArrayBuffer): boolean {
    const request = parse(bytes);
    if (request === undefined) {
      this.send('{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"},"id":null}');
      return this.caller.streamSlot.consumeMessage() !== 'close';
    }
    const { method, params = [] } = request;
    const id = idOf(request);
    if (typeof method === 'string' && method.endsWith('Subscribe') && Array.isArray(params) && id !== undefined) {
      void this.#subscribe(id, method, params);
      return true;
    }
    const verdict = this.caller.streamSlot.consumeMessage();
    if (verdict === 'close') return false;
    if (id === undefined) return true; // a notification, such as the pings of clients
    if (verdict === 'refuse') this.#fail(id, tooFast(this.caller));
    else this.#answer(id, request);
    return true;
  }

  #answer(id: string, { jsonrpc, method, params = [], ...others }: PubsubRequest): void {
    try {
      if (jsonrpc !== '2.0' || typeof method !== 'string') throw invalidRequest('op' in others);
      if (!Array.isArray(params)) throw new GatewayError('invalid_params', 'params must be an array');
      if (!method.endsWith('Unsubscribe')) parseSubscription(method, params); // which refuses it
      this.#options.subscriptions.unsubscribe(this, params[0]);
      this.send(`{"jsonrpc":"2.0","result":true,"id":${id}}`);
    } catch (thrown) {
      this.#fail(id, thrown);
    }
  }

  async #subscribe(id: string, method: string, params: readonly unknown[]): Promise<void> {
    const { caller } = this;
    const { subscriptions } = this.#options;
    try {
      const request = parseSubscription(method, params);
      if (subscriptions.countOf(this) + this.#waiting >= caller.maxSubscriptions)
        throw new GatewayError('rate_limited', `a connection may have ${caller.maxSubscriptions} subscriptions`);
      caller.charge(1);
      await this.#awaitTurn();
      if (this.#open === undefined) return;
      await subscriptions.subscribe(this, request, (subscription) =>
        this.send(`{"jsonrpc":"2.0","result":${subscription},"id":${id}}`),
      );
    } catch (thrown) {
      this.#fail(id, thrown);
    }
  }

  /** Waits for the pace of the caller: a client opens all that it has in as many messages, when it connects. */
  async #awaitTurn(): Promise<void> {
    const { clock } = this.#options;
    this.#waiting++;
    for (let waitMs = this.#turnMs(); waitMs > 0; waitMs = this.#turnMs())
      await new Promise<void>((resolve) => clock.after(waitMs, resolve));
    this.#waiting--;
  }

  /** Returns the milliseconds until the caller may subscribe; 0 for now, and once the connection is closed. */
  #turnMs(): number {
    return this.#open === undefined ? 0 : this.caller.streamSlot.consumeSubscribe();
  }

  #fail(id: string, thrown: unknown): void {
    const error = GatewayError.from(thrown);
    if (error.code === 'internal_error') this.#options.onInternalError('pubsub', error.cause ?? error);
    this.send(jsonRpcError(id, error));
  }

  /** Ends what the client has here. Its connection is closed, so that it subscribes again, to all or elsewhere. */
  #lose(onLost: (reason: string) => void, reason: string): void {
    this.close();
    onLost(reason);
  }
}

/** Returns the object of a message; undefined if it is none. */
function parse(bytes: ArrayBuffer): PubsubRequest | undefined {
  try {
    const value: unknown = JSON.parse(decoder.decode(bytes));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the id of a request as JSON; undefined for a notification. */
function idOf({ id }: PubsubRequest): string | undefined {
  if (id === undefined) return undefined;
  return id === null || typeof id === 'string' || typeof id === 'number' ? JSON.stringify(id) : 'null';
}

const invalidRequest = (isOfStream: boolean): GatewayError =>
  new GatewayError(
    'invalid_request',
    isOfStream
      ? 'this is Solana pubsub: slotgate has its own stream at /api/v1/stream'
      : 'send {"jsonrpc":"2.0","id","method","params"}',
  );

function tooFast({ streamSlot }: StreamCaller): GatewayError {
  const { stream, caller } = streamSlot.messagesPerSecond;
  const message = `send at most ${stream} messages a second on a connection and ${caller} on all of yours`;
  return new GatewayError('rate_limited', message, { retryAfter: 1 });
}
