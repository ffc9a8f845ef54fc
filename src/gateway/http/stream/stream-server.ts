import { API_PREFIX } from '../../../shared/domain/canonical-request.ts';
import type { Clock } from '../../../shared/domain/clock.ts';
import type { NetworkSnapshot } from '../../../shared/domain/network-snapshot.ts';
import type { Entry } from '../../cache/entry.ts';
import type { Sealer } from '../../serving/sealer.ts';
import type { EngineApp, EngineSocket } from '../engine/engine.ts';
import { requestTargetOf } from '../engine/request-guard.ts';
import type { AccountTopics } from './account-topics.ts';
import { type FrameChannel, FrameChannels } from './frame-channels.ts';
import { CLOSE_CODES, type CloseCounts, OpenSockets } from './open-sockets.ts';
import type { StreamCaller } from './stream-caller.ts';
import { SocketConnection } from './stream-connection.ts';
import { StreamMessages } from './stream-messages.ts';
import { createStreamUpgrade, type StreamUpgradeOptions } from './stream-upgrade.ts';

export interface StreamServerOptions extends StreamUpgradeOptions {
  readonly clock: Clock;
  /** Returns the number of I/O events that the event loop has handled up to this turn. */
  readonly polledEvents: () => number;
  /** The most bytes that may be buffered for a slow client; beyond it frames are dropped. */
  readonly maxBackpressureBytes: number;
  readonly sealer: Sealer;
  readonly accountTopics: AccountTopics;
  readonly closes: CloseCounts;
}

/** The data of one WebSocket. The engine merges its members into the socket object, which has a `send` of its own. */
interface SocketData {
  readonly channel: FrameChannel;
  /** Assigned when it opens: an upgrade may come to nothing. */
  shard: number;
  readonly caller: StreamCaller;
  /** The connection as messages and account topics use it. */
  readonly connection: SocketConnection;
  /** What handles its messages; undefined before the first. */
  messages: StreamMessages | undefined;
}

type StreamSocket = EngineSocket<SocketData>;

/** The longest WebSocket message. The engine cuts the connection at longer ones, so it accepts more than is allowed. */
const MAX_PAYLOAD_BYTES = 64 * 1024;

/** Of a socket that is not open yet. */
const NO_SHARD = -1;

/** Serves `/stream`: frames of the network and account topics over WebSocket. */
export class StreamServer {
  readonly #options: StreamServerOptions;
  readonly #channels: FrameChannels;
  readonly #sockets: OpenSockets<StreamSocket>;

  constructor(app: EngineApp, options: StreamServerOptions) {
    const { clock, maxBackpressureBytes, polledEvents, sealer } = options;
    this.#options = options;
    this.#channels = new FrameChannels(
      (topic, message, isBinary) => app.publish(topic, message, isBinary),
      sealer,
      clock,
      polledEvents,
      (thrown) => options.onInternalError('the stream', thrown),
    );
    this.#sockets = new OpenSockets({
      ...options,
      subscriptionsOf: (socket) => socket.getUserData().connection.subscriptions.size,
      endSlow: (socket) => this.#sockets.closeOnceDrained(socket),
    });
    app.handleWebSockets<SocketData>(`${API_PREFIX}/stream`, {
      maxPayloadLength: MAX_PAYLOAD_BYTES,
      maxBackpressure: maxBackpressureBytes,
      idleTimeout: 60,
      upgrade: createStreamUpgrade(options, '/stream', (req) => {
        const channel = this.#channels.channelFor(requestTargetOf(req));
        const data = { channel, shard: NO_SHARD, messages: undefined };
        return (caller) => ({ ...data, caller, connection: new SocketConnection(caller) });
      }),
      open: (socket) => this.#onOpen(socket),
      message(socket, bytes, isBinary) {
        const data = socket.getUserData();
        data.messages ??= new StreamMessages(options, data);
        data.messages.handle(socket, bytes, isBinary);
      },
      dropped: (socket) => this.#sockets.recordDrop(socket),
      drain: (socket) => this.#onDrain(socket),
      close: (socket, code) => this.#onClose(socket, code),
    });
  }

  get subscribers(): number {
    return this.#sockets.size;
  }

  /** Several of its channels may have the same format and interval. */
  get figures() {
    const channels = this.#channels.all.map(({ format, intervalMs, fanout }) => ({
      format,
      intervalMs,
      connections: fanout.subscriberCount,
    }));
    return {
      channels,
      subscriptions: this.#options.accountTopics.subscriptionCounts,
      frames: this.#channels.frames,
      dropped: this.#sockets.dropped,
    };
  }

  publish(entry: Entry, snapshot: NetworkSnapshot): void {
    this.#channels.publish(entry, snapshot);
  }

  close(): void {
    this.#sockets.close();
    this.#options.accountTopics.close(); // last, since each closed socket begins grace periods
  }

  #onOpen(socket: StreamSocket): void {
    const data = socket.getUserData();
    const { channel, connection } = data;
    data.shard = channel.fanout.addSubscriber();
    this.#sockets.add(socket);
    connection.open({
      socket,
      maxUnsentBytes: this.#options.maxBackpressureBytes / 2,
      onDrop: () => this.#sockets.recordDrop(socket),
    });
    const isFrameQueued = channel.fanout.hasPending(data.shard);
    const latest = isFrameQueued ? undefined : this.#channels.latestFrame(channel);
    if (latest !== undefined) socket.send(latest, channel.format === 'msgpack');
    socket.subscribe(channel.fanout.topicOf(data.shard));
  }

  #onDrain(socket: StreamSocket): void {
    if (socket.getBufferedAmount() > 0) return;
    if (!this.#sockets.recordDrain(socket)) {
      socket.end(CLOSE_CODES.slowConsumer, 'too slow: frames were dropped for three seconds');
      return;
    }
    const { connection, messages } = socket.getUserData();
    connection.sendReplies();
    this.#options.accountTopics.sendUnsent(connection);
    messages?.resume();
  }

  #onClose(socket: StreamSocket, code: number): void {
    const { channel, shard, connection, messages } = socket.getUserData();
    connection.close();
    this.#options.accountTopics.removeConnection(connection);
    messages?.close();
    this.#sockets.remove(socket, code);
    channel.fanout.removeSubscriber(shard);
  }
}
