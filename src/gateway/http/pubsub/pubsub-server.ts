import { API_PREFIX } from '../../../shared/domain/canonical-request.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { TurnBudget } from '../../../shared/runtime/turn-budget.ts';
import type { EngineApp, EngineSocket } from '../engine/engine.ts';
import { CLOSE_CODES, type CloseCounts, OpenSockets } from '../stream/open-sockets.ts';
import type { StreamCaller } from '../stream/stream-caller.ts';
import { createStreamUpgrade, type StreamUpgradeOptions } from '../stream/stream-upgrade.ts';
import { AccountFeeds, type AccountFeedsOptions } from './account-source.ts';
import { PubsubClient, type PubsubClientOptions } from './pubsub-client.ts';
import { SignatureWatch } from './signature-watch.ts';
import { Subscriptions, type SubscriptionsOptions } from './subscriptions.ts';

export interface PubsubServerOptions
  extends StreamUpgradeOptions,
    AccountFeedsOptions,
    Pick<SubscriptionsOptions, 'events' | 'liveLogs' | 'mesh'>,
    Pick<PubsubClientOptions, 'onInternalError'> {
  readonly context: StreamUpgradeOptions['context'] & SubscriptionsOptions['context'];
  /** The unsent bytes above which a client is too slow. */
  readonly maxBackpressureBytes: number;
  readonly closes: CloseCounts;
}

interface SocketData {
  readonly caller: StreamCaller;
  readonly client: PubsubClient;
}

type PubsubSocket = EngineSocket<SocketData>;

/** The longest message of a client: as much as a node accepts (agave, rpc_pubsub_service.rs). */
const MAX_MESSAGE_BYTES = 4096;

/** The time for messages in one turn of the event loop, in milliseconds. The others of a packet wait for the next turns. */
const TURN_MS = 5;

/** The most that wait, of which one caller may have a quarter: more than the subscriptions that a client opens at a time. */
const WAITING = { items: 20_000, bytes: 64 << 20, waiting: 'wait to be handled' };

/** The longest reason of a close frame, in bytes (RFC 6455 5.5). */
const MAX_REASON_BYTES = 123;

/** Serves Solana's pubsub over WebSocket, at the path of `/rpc`. */
export class PubsubServer {
  readonly #subscriptions: Subscriptions;
  readonly #signatures: SignatureWatch;
  readonly #sockets: OpenSockets<PubsubSocket>;
  readonly #lostReasons = new WeakMap<PubsubClient, string>();
  readonly #turns: TurnBudget;
  readonly #options: PubsubServerOptions;

  constructor(app: EngineApp, options: PubsubServerOptions) {
    const { clock, maxBackpressureBytes, mesh, readRpc } = options;
    this.#options = options;
    this.#turns = new TurnBudget({ turnMs: TURN_MS, queue: WAITING, clock });
    this.#signatures = new SignatureWatch(readRpc, mesh);
    this.#subscriptions = new Subscriptions({
      ...options,
      accounts: new AccountFeeds(options),
      signatures: this.#signatures,
    });
    this.#sockets = new OpenSockets({
      ...options,
      subscriptionsOf: (socket) => this.#subscriptions.countOf(socket.getUserData().client),
      endSlow: (socket) => this.#sockets.closeOnceDrained(socket),
    });
    const clientOptions = { ...options, subscriptions: this.#subscriptions };
    app.handleWebSockets<SocketData>(`${API_PREFIX}/rpc`, {
      maxPayloadLength: 16 * MAX_MESSAGE_BYTES, // the engine cuts the connection at longer ones
      maxBackpressure: 4 * maxBackpressureBytes, // beyond it frames are dropped
      idleTimeout: 60,
      upgrade: createStreamUpgrade(options, '/rpc', () => (caller) => ({
        caller,
        client: new PubsubClient(caller, clientOptions),
      })),
      open: (socket) => this.#onOpen(socket),
      message: (socket, bytes) => this.#onMessage(socket, bytes),
      dropped: () => {},
      drain: (socket) => this.#onDrain(socket),
      close: (socket, code) => this.#onClose(socket, code),
    });
  }

  /** The number of open connections. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** The numbers of subscriptions by their method. */
  get subscriptionCounts(): ReadonlyMap<string, number> {
    return new Map([...this.#subscriptions.counts].map(([kind, count]) => [`${kind}Subscribe`, count]));
  }

  close(): void {
    this.#sockets.close();
    this.#signatures.close();
  }

  #onOpen(socket: PubsubSocket): void {
    const { client } = socket.getUserData();
    this.#sockets.add(socket);
    client.open({
      socket,
      maxUnsentBytes: this.#options.maxBackpressureBytes,
      onSlow: () => this.#sockets.recordDrop(socket),
      onLost: (reason) => this.#closeLost(socket, client, reason),
      onFlood: () => this.#endFlood(socket),
    });
  }

  #onMessage(socket: PubsubSocket, bytes: ArrayBuffer): void {
    if (bytes.byteLength > MAX_MESSAGE_BYTES)
      socket.end(CLOSE_CODES.messageTooLong, `a message may have at most ${MAX_MESSAGE_BYTES} bytes`);
    else {
      const { caller, client } = socket.getUserData();
      const ownBytes = bytes.slice(0); // the engine's are valid in this call only
      const handle = (): void => {
        if (this.#sockets.has(socket)) client.handle(ownBytes);
      };
      this.#turns.run({ caller: caller.name, bytes: ownBytes.byteLength }, handle).catch((thrown: unknown) => {
        if (GatewayError.from(thrown).code !== 'overloaded') this.#options.onInternalError('pubsub', thrown);
        this.#endFlood(socket);
      });
    }
  }

  #endFlood(socket: PubsubSocket): void {
    if (this.#sockets.has(socket)) socket.end(CLOSE_CODES.tooMany, 'too many messages over the pace');
  }

  /** Closes a connection that has missed something: with the reason, once it has received what was sent before. */
  #closeLost(socket: PubsubSocket, client: PubsubClient, reason: string): void {
    this.#lostReasons.set(client, reason.slice(0, MAX_REASON_BYTES));
    if (socket.getBufferedAmount() === 0) setImmediate(() => this.#onDrain(socket));
    else this.#sockets.closeOnceDrained(socket);
  }

  #onDrain(socket: PubsubSocket): void {
    if (!this.#sockets.has(socket) || socket.getBufferedAmount() > 0) return;
    const { client } = socket.getUserData();
    if (this.#sockets.recordDrain(socket) && !this.#lostReasons.has(client)) client.resume();
    else
      socket.end(
        CLOSE_CODES.slowConsumer,
        this.#lostReasons.get(client) ?? 'too slow: events waited for three seconds',
      );
  }

  #onClose(socket: PubsubSocket, code: number): void {
    socket.getUserData().client.close();
    this.#sockets.remove(socket, code);
  }
}
