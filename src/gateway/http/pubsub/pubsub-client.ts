import type { Clock } from '../../../shared/domain/clock.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { jsonRpcError } from '../../routes/routing/json-rpc-form.ts';
import { elements, member } from '../../upstream/json/raw-json.ts';
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
  /** Called when something waits that may. */
  readonly onSlow: () => void;
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

/** Sends the answer to a request; resolves once it is sent where others have to be waited for. */
type Reply = (answer: string) => Promise<void> | void;

const NO_TEXT = Buffer.from('{"id":0}');

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

  /** Handles one message: a request, or a batch of them. Returns false if the client sends too many. */
  handle(message: ArrayBuffer): boolean {
    const bytes = Buffer.from(message);
    const parsed = parse(bytes);
    if (parsed === undefined) {
      this.send('{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"},"id":null}');
      return this.caller.streamSlot.consumeMessage() !== 'close';
    }
    if (Array.isArray(parsed)) return this.#handleBatch(parsed, elements(bytes));
    return this.#handleOne(parsed, bytes, (text) => this.send(text));
  }

  /** The answers are one message, as of a node. What a batch subscribes to is notified from then on. */
  #handleBatch(requests: readonly unknown[], texts: readonly Buffer[]): boolean {
    const answers: string[] = [];
    const expected = requests.filter((request) => idOf(request, NO_TEXT) !== undefined).length;
    let onSent = (): void => {};
    const sent = new Promise<void>((resolve) => {
      onSent = resolve;
    });
    const reply = (answer: string): Promise<void> => {
      answers.push(answer);
      if (answers.length === expected) {
        this.send(`[${answers.join()}]`);
        onSent();
      }
      return sent;
    };
    return requests.every((request, i) => this.#handleOne(request, texts[i] ?? NO_TEXT, reply));
  }

  #handleOne(value: unknown, text: Buffer, reply: Reply): boolean {
    const request: PubsubRequest = { ...Object(value) };
    const { method } = request;
    const params = request.params ?? [];
    const id = idOf(value, text);
    if (typeof method === 'string' && method.endsWith('Subscribe') && Array.isArray(params) && id !== undefined) {
      void this.#subscribe(id, method, params, reply);
      return true;
    }
    const verdict = this.caller.streamSlot.consumeMessage();
    if (verdict === 'close') return false;
    if (id === undefined) return true; // a notification, such as the pings of clients
    void reply(verdict === 'refuse' ? this.#errorOf(id, tooFast(this.caller)) : this.#answerTo(id, request, params));
    return true;
  }

  #answerTo(id: string, { jsonrpc, method, ...others }: PubsubRequest, params: unknown): string {
    try {
      if (jsonrpc !== '2.0' || typeof method !== 'string') throw invalidRequest('op' in others);
      if (!Array.isArray(params)) throw new GatewayError('invalid_params', 'params must be an array');
      if (!method.endsWith('Unsubscribe')) parseSubscription(method, params); // which refuses it
      this.#options.subscriptions.unsubscribe(this, params[0]);
      return `{"jsonrpc":"2.0","result":true,"id":${id}}`;
    } catch (thrown) {
      return this.#errorOf(id, thrown);
    }
  }

  async #subscribe(id: string, method: string, params: readonly unknown[], reply: Reply): Promise<void> {
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
        reply(`{"jsonrpc":"2.0","result":${subscription},"id":${id}}`),
      );
    } catch (thrown) {
      void reply(this.#errorOf(id, thrown));
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

/** Returns the object or the array of a message; undefined if it is none. */
function parse(bytes: Buffer): object | undefined {
  try {
    const value: unknown = JSON.parse(decoder.decode(bytes));
    return typeof value === 'object' && value !== null && !isEmptyArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isEmptyArray = (value: object): boolean => Array.isArray(value) && value.length === 0;

/** Returns the id of a request as JSON, a number as it is written: it may exceed a double. Undefined for a notification. */
function idOf(request: unknown, text: Buffer): string | undefined {
  if (typeof request !== 'object' || request === null) return 'null';
  const { id }: PubsubRequest = request;
  if (typeof id === 'number') return member(text, 'id')?.toString();
  return id === undefined || typeof id === 'string' ? JSON.stringify(id) : 'null';
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
