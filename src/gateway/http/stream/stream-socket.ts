import type { EngineSocket } from '../engine/engine.ts';
import type { FrameChannel } from './frame-channels.ts';
import type { StreamCaller } from './stream-caller.ts';
import type { SocketConnection } from './stream-connection.ts';

/** The data of one WebSocket. The engine merges its members into the socket object, which has a `send` of its own. */
export interface SocketData {
  readonly channel: FrameChannel;
  /** Assigned when it opens: an upgrade may come to nothing. */
  shard: number;
  readonly caller: StreamCaller;
  /** The connection as messages and account topics use it. */
  readonly connection: SocketConnection;
}

export type StreamSocket = EngineSocket<SocketData>;

/** Close codes: those of RFC 6455 7.4.1, 1013 of the IANA registry, and private ones from 4000. */
export const CLOSE_CODES = {
  goingAway: 1001,
  tierFell: 1008,
  messageTooLong: 1009,
  slowConsumer: 1013,
  invalidKey: 4401,
  malformedMessage: 4403,
  tooMany: 4429,
} as const;
