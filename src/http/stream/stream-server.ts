import type { HttpRequest, HttpResponse, TemplatedApp, us_socket_context_t, WebSocket } from 'uWebSockets.js';
import { rateLimitKeyOf } from '../../access/authenticator.ts';
import type { Quota } from '../../access/limits/rate-limiter.ts';
import type { StreamSlot } from '../../access/limits/stream-quota.ts';
import type { Principal } from '../../access/limits/tiers.ts';
import type { Access } from '../../access/open-access.ts';
import type { Entry } from '../../cache/entry.ts';
import { API_PREFIX } from '../../domain/canonical-request.ts';
import type { Clock } from '../../domain/clock.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { NetworkSnapshot } from '../../domain/network-snapshot.ts';
import type { Sealer } from '../../serving/sealer.ts';
import { type PendingResponses, Reply } from '../engine/reply.ts';
import { requestTargetOf } from '../engine/request-guard.ts';
import { checkWebSocketHandshake } from '../engine/websocket-handshake.ts';
import { rateLimitHeaders } from '../rest/response-headers.ts';
import { errorResponse } from '../rest/responses.ts';
import type { AccountTopics, StreamConnection } from './account-topics.ts';
import { errorFrame } from './error-frame.ts';
import type { Publish } from './fanout.ts';
import { type FrameChannel, FrameChannels } from './frame-channels.ts';
import { SlowConsumers } from './slow-consumers.ts';
import { type MessageId, parseStreamMessage } from './stream-message.ts';

export interface StreamServerOptions {
  readonly access: Access;
  readonly clock: Clock;
  /** What may wait for a slow reader, in bytes; beyond it frames are dropped. */
  readonly maxBackpressureBytes: number;
  readonly pendingResponses: PendingResponses;
  /** Signs the frames of those who want receipts. */
  readonly sealer: Sealer;
  /** The account topics that may be subscribed to. */
  readonly accountTopics: AccountTopics;
  readonly isDraining: () => boolean;
  readonly onInternalError: (requestId: string, thrown: unknown) => void;
}

export interface StreamServer {
  /** How many listen. */
  readonly subscribers: number;
  /** Sends a frame: the entry's body to those who read JSON, the snapshot to those who read MessagePack. */
  publish(entry: Entry, snapshot: NetworkSnapshot): void;
  /** Says goodbye to all. */
  close(): void;
}

interface SocketData {
  readonly channel: FrameChannel;
  readonly shard: number;
  /** Whose it is; undefined for an address. */
  readonly account: Principal | undefined;
  /** Its place among the connections of its caller. */
  readonly streamSlot: StreamSlot;
  /** Where its frames go. The engine merges this object into its socket, which has a `send` of its own. */
  readonly connection: StreamConnection;
}

type Socket = WebSocket<SocketData>;

const MAX_MESSAGE_BYTES = 4096;
/** The engine cuts the connection at a longer one without a word, so it takes more than is allowed. */
const MAX_PAYLOAD_BYTES = 64 * 1024;

/** RFC 6455 7.4.1, and the private range for what is ours. */
const CLOSE_CODES = {
  goingAway: 1001,
  messageTooLong: 1009,
  slowConsumer: 1013,
  invalidKey: 4401,
  malformedMessage: 4403,
  tooManyMessages: 4429,
} as const;

/** Serves `/stream`: the network's frames over WebSocket. */
export function openStreamServer(app: TemplatedApp, options: StreamServerOptions): StreamServer {
  const { access, clock, accountTopics } = options;
  const { rateLimiter, authenticator, streamQuota } = access;
  const publish: Publish = (topic, message, isBinary) => void app.publish(topic, message, isBinary, false);
  const channels = new FrameChannels(publish, options.sealer, clock);
  const sockets = new Set<Socket>();
  const slowConsumers = new SlowConsumers<Socket>(clock);
  const keyedSockets = new Set<Socket>();

  function upgrade(res: HttpResponse, req: HttpRequest, context: us_socket_context_t): void {
    let quota: Quota = rateLimiter.peek(new ArrayBuffer(4));
    try {
      const address = access.clientIp.resolve(res, req);
      const metered = authenticator.consume(req, address, 1);
      const { principal, credentialsError } = metered;
      quota = metered.quota;
      if (!quota.allowed) throw rateLimited('requests', quota);
      if (options.isDraining()) throw new GatewayError('shutting_down', 'the gateway is shutting down');
      checkWebSocketHandshake(req);
      const channel = channels.channelFor(requestTargetOf(req));
      if (credentialsError !== undefined) throw credentialsError;
      const tier = authenticator.tierOf(principal);
      const streamSlot = streamQuota.acquire(rateLimitKeyOf(address, principal), tier);
      if (streamSlot === undefined) throw rateLimited('streams', quota);
      const socketData: SocketData = {
        channel,
        shard: channel.fanout.addSubscriber(),
        account: principal,
        streamSlot,
        connection: { reply: () => {}, push: () => false, maxSubscriptions: tier.subscriptions }, // until the socket is open
      };
      res.writeStatus('101 Switching Protocols');
      for (const [name, value] of rateLimitHeaders(quota)) res.writeHeader(name, value);
      res.upgrade(
        socketData,
        req.getHeader('sec-websocket-key'),
        '', // no subprotocol is spoken; the engine would agree to whichever is named
        '', // and no extension
        context,
      );
    } catch (thrown) {
      new Reply(res, options.pendingResponses).sendAndClose(errorResponse(quota, thrown, options.onInternalError));
    }
  }

  function onMessage(socket: Socket, bytes: ArrayBuffer, isBinary: boolean): void {
    const { connection, streamSlot } = socket.getUserData();
    if (!streamSlot.consumeMessage()) {
      socket.end(CLOSE_CODES.tooManyMessages, 'too many messages');
      return;
    }
    if (bytes.byteLength > MAX_MESSAGE_BYTES) {
      socket.end(CLOSE_CODES.messageTooLong, 'too long');
      return;
    }
    const message = isBinary ? undefined : parseStreamMessage(bytes);
    switch (message?.op) {
      case undefined:
        socket.end(CLOSE_CODES.malformedMessage, 'not understood');
        break;
      case 'ping':
        connection.reply('{"type":"pong"}');
        break;
      case 'invalid':
        replyError(connection, message.id, message.error);
        break;
      case 'subscribe':
        accountTopics
          .subscribe(connection, message.topic, message.id)
          .catch((thrown) => replyError(connection, message.id, thrown));
        break;
      case 'unsubscribe':
        try {
          accountTopics.unsubscribe(connection, message.topic, message.id);
        } catch (thrown) {
          replyError(connection, message.id, thrown);
        }
    }
  }

  function replyError(connection: StreamConnection, id: MessageId, thrown: unknown): void {
    const error = GatewayError.from(thrown);
    if (error.code === 'internal_error') options.onInternalError('stream', error.cause ?? error);
    connection.reply(errorFrame(id, error));
  }

  /** Sends a change of an account, unless the reader has too much to read already. */
  function pushFrame(socket: Socket, frame: string): boolean {
    if (!sockets.has(socket)) return false;
    if (socket.getBufferedAmount() <= options.maxBackpressureBytes / 2) {
      socket.send(frame);
      return true;
    }
    slowConsumers.recordDrop(socket);
    return false;
  }

  /** Lets go of those whose key was revoked, or has expired. */
  function closeInvalidKeys(): void {
    for (const socket of [...keyedSockets]) {
      const { account } = socket.getUserData();
      if (account !== undefined && !authenticator.isStillValid(account))
        socket.end(CLOSE_CODES.invalidKey, 'the key is not valid');
    }
  }

  app.ws<SocketData>(`${API_PREFIX}/stream`, {
    maxPayloadLength: MAX_PAYLOAD_BYTES,
    maxBackpressure: options.maxBackpressureBytes,
    closeOnBackpressureLimit: false,
    idleTimeout: 60,
    sendPingsAutomatically: true,
    upgrade,
    open(socket) {
      const socketData = socket.getUserData();
      const { channel, shard, account } = socketData;
      sockets.add(socket);
      if (account?.key !== undefined) keyedSockets.add(socket);
      socketData.connection.reply = (frame) => void (sockets.has(socket) && socket.send(frame));
      socketData.connection.push = (frame) => pushFrame(socket, frame);
      const isFrameQueued = channel.fanout.hasPending(shard);
      const latest = isFrameQueued ? undefined : channels.latestFrame(channel);
      if (latest !== undefined) socket.send(latest, channel.format === 'msgpack');
      socket.subscribe(channel.fanout.topicOf(shard));
    },
    message: onMessage,
    dropped: (socket) => slowConsumers.recordDrop(socket),
    drain(socket) {
      if (socket.getBufferedAmount() > 0) return;
      if (slowConsumers.recordDrain(socket)) accountTopics.sendUnsent(socket.getUserData().connection);
      else socket.end(CLOSE_CODES.slowConsumer, 'too slow');
    },
    close(socket) {
      const { channel, shard, streamSlot, connection } = socket.getUserData();
      accountTopics.removeConnection(connection);
      sockets.delete(socket);
      slowConsumers.remove(socket);
      keyedSockets.delete(socket);
      channel.fanout.removeSubscriber(shard);
      streamSlot.release();
    },
  });

  return {
    get subscribers() {
      return sockets.size;
    },
    publish(entry, snapshot) {
      channels.publish(entry, snapshot);
      slowConsumers.closeExpired();
      closeInvalidKeys();
    },
    close() {
      accountTopics.close();
      for (const socket of [...sockets]) socket.end(CLOSE_CODES.goingAway, 'the gateway is shutting down');
    },
  };
}

const rateLimited = (what: string, { retryAfter }: Quota): GatewayError =>
  new GatewayError('rate_limited', `too many ${what}`, { retryAfter });
