import { timingSafeEqual } from 'node:crypto';
import { EventCodec } from '../../codec.ts';
import type { FleetSecret } from './fleet-secret.ts';

/** What the leader sends to all, under its epoch: encoded events in the message of this number. */
export type LeaderMessage = Readonly<
  { epoch: number; leader: string; seq: number; events: readonly Uint8Array[] } & (
    | { type: 'events' }
    /** All that it keeps, with the effect of the messages before, and the requests that it answers. */
    | { type: 'snapshot'; joinIds: readonly string[] }
  )
>;

/** What a follower sends to the leader: the request for a snapshot, or encoded events. */
type FollowerMessage = Readonly<
  { type: 'join'; joinId: string } | { type: 'follower-events'; events: readonly Uint8Array[] }
>;

export type ChannelMessage = LeaderMessage | FollowerMessage;

export type MessageFault = 'mac' | 'malformed';

const MAC_BYTES = 32;

/** The longest message that is accepted. One account that is kept live may be 10 MiB long, as text 13 MiB. */
const MAX_MESSAGE_BYTES = 32 << 20;

const codec = new EventCodec();

/** Packs a message for one channel; it is valid on no other, and no longer once it is changed. */
export function packMessage(message: ChannelMessage, channel: string, secret: FleetSecret): Buffer {
  const body = codec.encode(message);
  return Buffer.concat([macOf(body, channel, secret), body]);
}

export function unpackMessage(bytes: Buffer, channel: string, secret: FleetSecret): ChannelMessage | MessageFault {
  if (bytes.length <= MAC_BYTES || bytes.length > MAX_MESSAGE_BYTES) return 'malformed';
  const body = bytes.subarray(MAC_BYTES);
  if (!timingSafeEqual(bytes.subarray(0, MAC_BYTES), macOf(body, channel, secret))) return 'mac';
  try {
    return codec.decode(body);
  } catch {
    return 'malformed';
  }
}

const macOf = (body: Uint8Array, channel: string, secret: FleetSecret): Buffer =>
  secret('message', Buffer.concat([Buffer.from(`${channel}\0`), body]));
