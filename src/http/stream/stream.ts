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
import type { Sealer } from '../../serving/seal.ts';
import { targetOf } from '../engine/edge.ts';
import { checkHandshake } from '../engine/handshake.ts';
import { type Owed, Reply } from '../engine/reply.ts';
import { quotaHeaders } from '../rest/head.ts';
import { errorWire } from '../rest/wire.ts';
import { type Channel, Channels } from './channels.ts';
import { errorFrame } from './error-frame.ts';
import type { Publish } from './fanout.ts';
import type { Listener, Pushes } from './pushes.ts';
import { SlowReaders } from './slow-readers.ts';
import { type MessageId, parseMessage } from './stream-message.ts';

export interface StreamOptions {
  readonly access: Access;
  readonly clock: Clock;
  /** What may wait for a slow reader, in bytes; beyond it frames are dropped. */
  readonly maxBackpressureBytes: number;
  readonly owed: Owed;
  /** Signs the frames of those who want receipts. */
  readonly sealer: Sealer;
  /** The account topics that may be subscribed to. */
  readonly pushes: Pushes;
  readonly isDraining: () => boolean;
  readonly onDefect: (requestId: string, thrown: unknown) => void;
}

export interface Stream {
  /** How many listen. */
  readonly subscribers: number;
  /** Sends a frame: the entry's body to those who read JSON, the snapshot to those who read MessagePack. */
  publish(entry: Entry, snapshot: NetworkSnapshot): void;
  /** Says goodbye to all. */
  close(): void;
}

interface Subscriber {
  readonly channel: Channel;
  readonly shard: number;
  /** Whose it is; undefined for an address. */
  readonly account: Principal | undefined;
  /** Its place among the connections of its caller. */
  readonly seat: StreamSlot;
  /** Where its frames go. The engine merges this object into its socket, which has a `send` of its own. */
  readonly listener: Listener;
}

type Socket = WebSocket<Subscriber>;

const MAX_MESSAGE = 4096;
/** The engine cuts the connection at a longer one without a word, so it takes more than is allowed. */
const MAX_PAYLOAD = 64 * 1024;

/** RFC 6455 7.4.1, and the private range for what is ours. */
const CLOSE = {
  goingAway: 1001,
  tooLong: 1009,
  slow: 1013,
  notKnown: 4401,
  notUnderstood: 4403,
  tooMany: 4429,
} as const;

/** Serves `/stream`: the network's frames over WebSocket. */
export function openStream(app: TemplatedApp, options: StreamOptions): Stream {
  const { access, clock, pushes } = options;
  const { rateLimiter, authenticator, streamQuota } = access;
  const publish: Publish = (topic, message, isBinary) => void app.publish(topic, message, isBinary, false);
  const channels = new Channels(publish, options.sealer, clock);
  const sockets = new Set<Socket>();
  const slow = new SlowReaders<Socket>(clock);
  const keyed = new Set<Socket>();

  function upgrade(res: HttpResponse, req: HttpRequest, context: us_socket_context_t): void {
    let quota: Quota = rateLimiter.peek(new ArrayBuffer(4));
    try {
      const address = access.clientIp.resolve(res, req);
      const counted = authenticator.consume(req, address, 1);
      const { principal, credentialsError } = counted;
      quota = counted.quota;
      if (!quota.allowed) throw tooMany('requests', quota);
      if (options.isDraining()) throw new GatewayError('shutting_down', 'the gateway is shutting down');
      checkHandshake(req);
      const channel = channels.at(targetOf(req));
      if (credentialsError !== undefined) throw credentialsError;
      const tier = authenticator.tierOf(principal);
      const seat = streamQuota.acquire(rateLimitKeyOf(address, principal), tier);
      if (seat === undefined) throw tooMany('streams', quota);
      const subscriber: Subscriber = {
        channel,
        shard: channel.fanout.join(),
        account: principal,
        seat,
        listener: { say: () => {}, push: () => false, subscriptions: tier.subscriptions }, // until the socket is open
      };
      res.writeStatus('101 Switching Protocols');
      for (const [name, value] of quotaHeaders(quota)) res.writeHeader(name, value);
      res.upgrade(
        subscriber,
        req.getHeader('sec-websocket-key'),
        '', // no subprotocol is spoken; the engine would agree to whichever is named
        '', // and no extension
        context,
      );
    } catch (thrown) {
      new Reply(res, options.owed).sendLast(errorWire(quota, thrown, options.onDefect));
    }
  }

  function onMessage(socket: Socket, message: ArrayBuffer, isBinary: boolean): void {
    const { listener, seat } = socket.getUserData();
    if (!seat.consumeMessage()) {
      socket.end(CLOSE.tooMany, 'too many messages');
      return;
    }
    if (message.byteLength > MAX_MESSAGE) {
      socket.end(CLOSE.tooLong, 'too long');
      return;
    }
    const asked = isBinary ? undefined : parseMessage(message);
    switch (asked?.op) {
      case undefined:
        socket.end(CLOSE.notUnderstood, 'not understood');
        break;
      case 'ping':
        listener.say('{"type":"pong"}');
        break;
      case 'refused':
        refuse(listener, asked.id, asked.error);
        break;
      case 'subscribe':
        pushes.subscribe(listener, asked.topic, asked.id).catch((thrown) => refuse(listener, asked.id, thrown));
        break;
      case 'unsubscribe':
        try {
          pushes.unsubscribe(listener, asked.topic, asked.id);
        } catch (thrown) {
          refuse(listener, asked.id, thrown);
        }
    }
  }

  function refuse(listener: Listener, id: MessageId, thrown: unknown): void {
    const error = GatewayError.from(thrown);
    if (error.code === 'internal_error') options.onDefect('stream', error.cause ?? error);
    listener.say(errorFrame(id, error));
  }

  /** Sends a change of an account, unless the reader has too much to read already. */
  function pushTo(socket: Socket, frame: string): boolean {
    if (!sockets.has(socket)) return false;
    if (socket.getBufferedAmount() <= options.maxBackpressureBytes / 2) {
      socket.send(frame);
      return true;
    }
    slow.mark(socket);
    return false;
  }

  /** Lets go of those whose key was revoked, or has expired. */
  function dropUnknown(): void {
    for (const socket of [...keyed]) {
      const { account } = socket.getUserData();
      if (account !== undefined && !authenticator.isStillValid(account))
        socket.end(CLOSE.notKnown, 'the key is not valid');
    }
  }

  app.ws<Subscriber>(`${API_PREFIX}/stream`, {
    maxPayloadLength: MAX_PAYLOAD,
    maxBackpressure: options.maxBackpressureBytes,
    closeOnBackpressureLimit: false,
    idleTimeout: 60,
    sendPingsAutomatically: true,
    upgrade,
    open(socket) {
      const subscriber = socket.getUserData();
      const { channel, shard, account } = subscriber;
      sockets.add(socket);
      if (account?.key !== undefined) keyed.add(socket);
      subscriber.listener.say = (frame) => void (sockets.has(socket) && socket.send(frame));
      subscriber.listener.push = (frame) => pushTo(socket, frame);
      const comesAnyway = channel.fanout.isPending(shard);
      const latest = comesAnyway ? undefined : channels.latest(channel);
      if (latest !== undefined) socket.send(latest, channel.format === 'msgpack');
      socket.subscribe(channel.fanout.topic(shard));
    },
    message: onMessage,
    dropped: (socket) => slow.mark(socket),
    drain(socket) {
      if (socket.getBufferedAmount() > 0) return;
      if (slow.drained(socket)) pushes.drained(socket.getUserData().listener);
      else socket.end(CLOSE.slow, 'too slow');
    },
    close(socket) {
      const { channel, shard, seat, listener } = socket.getUserData();
      pushes.drop(listener);
      sockets.delete(socket);
      slow.forget(socket);
      keyed.delete(socket);
      channel.fanout.leave(shard);
      seat.release();
    },
  });

  return {
    get subscribers() {
      return sockets.size;
    },
    publish(entry, snapshot) {
      channels.publish(entry, snapshot);
      slow.letGo();
      dropUnknown();
    },
    close() {
      pushes.close();
      for (const socket of [...sockets]) socket.end(CLOSE.goingAway, 'the gateway is shutting down');
    },
  };
}

const tooMany = (what: string, { retryAfter }: Quota): GatewayError =>
  new GatewayError('rate_limited', `too many ${what}`, { retryAfter });
