import { timingSafeEqual } from 'node:crypto';
import { Packr } from 'msgpackr';
import type { FeedFrame } from './feed.ts';
import type { FleetSecret } from './fleet-secret.ts';

/** What the leader sends to all: frames, or none as a sign of life. */
export interface FrameMessage {
  readonly kind: 'frames';
  readonly epoch: number;
  readonly leader: string;
  /** The number of this message. */
  readonly seq: number;
  readonly frames: readonly FeedFrame[];
}

/** A piece of what the leader keeps, for one follower who has asked for it. */
export interface SnapshotPiece {
  readonly kind: 'piece';
  readonly epoch: number;
  readonly leader: string;
  /** The number of the last message before the snapshot, which has the effect of all its frames. */
  readonly seq: number;
  /** The question that it answers. */
  readonly joinId: string;
  readonly index: number;
  /** The number of pieces. */
  readonly count: number;
  readonly frames: readonly FeedFrame[];
}

/** A follower asks the leader for what it keeps. */
export interface JoinMessage {
  readonly kind: 'join';
  readonly member: string;
  readonly joinId: string;
}

/** A follower tells the leader something. */
export interface ToldMessage {
  readonly kind: 'told';
  readonly member: string;
  readonly frames: readonly FeedFrame[];
}

export type FeedMessage = FrameMessage | SnapshotPiece | JoinMessage | ToldMessage;

/** Why a message was not taken: forged or for another channel, of another version, or no message at all. */
export type MessageFault = 'mac' | 'version' | 'malformed';

const VERSION = 1;
const KINDS = ['frames', 'piece', 'join', 'told'] as const;
const MAC_BYTES = 32;

/** The longest message that is looked at. One account that is kept live may be 10 MiB long, as text 13 MiB. */
const MAX_MESSAGE_BYTES = 32 << 20;

const packr = new Packr({ useRecords: false });

type Packed = [version: number, kind: number, fields: readonly unknown[], frames: readonly (number | Uint8Array)[]];

/** Packs a message for one channel; who writes to another, or changes it, can't have it heard. */
export function packMessage(message: FeedMessage, channel: string, secret: FleetSecret): Buffer {
  const frames = message.kind === 'join' ? [] : message.frames;
  const body = packr.pack([
    VERSION,
    KINDS.indexOf(message.kind),
    fieldsOf(message),
    frames.flatMap(({ type, payload }) => [type, payload]),
  ] satisfies Packed);
  return Buffer.concat([macOf(body, channel, secret), body]);
}

/** Returns the message, or why it is none for this channel. */
export function unpackMessage(bytes: Buffer, channel: string, secret: FleetSecret): FeedMessage | MessageFault {
  if (bytes.length <= MAC_BYTES || bytes.length > MAX_MESSAGE_BYTES) return 'malformed';
  const body = bytes.subarray(MAC_BYTES);
  if (!timingSafeEqual(bytes.subarray(0, MAC_BYTES), macOf(body, channel, secret))) return 'mac';
  try {
    const [version, kind, fields, frames] = packr.unpack(body) as Packed;
    return version === VERSION ? messageOf(KINDS[kind], fields, framesOf(frames)) : 'version';
  } catch {
    return 'malformed';
  }
}

const macOf = (body: Uint8Array, channel: string, secret: FleetSecret): Buffer =>
  secret.digest('message', Buffer.concat([Buffer.from(`${channel}\0`), body]));

function fieldsOf(message: FeedMessage): readonly unknown[] {
  if (message.kind === 'frames') return [message.epoch, message.leader, message.seq];
  if (message.kind === 'join') return [message.member, message.joinId];
  if (message.kind === 'told') return [message.member];
  const { epoch, leader, seq, joinId, index, count } = message;
  return [epoch, leader, seq, joinId, index, count];
}

function messageOf(
  kind: FeedMessage['kind'] | undefined,
  fields: readonly unknown[],
  frames: readonly FeedFrame[],
): FeedMessage | MessageFault {
  if (kind === 'frames') {
    const [epoch, leader, seq] = fields as [number, string, number];
    return { kind, epoch, leader, seq, frames };
  }
  if (kind === 'piece') {
    const [epoch, leader, seq, joinId, index, count] = fields as [number, string, number, string, number, number];
    return { kind, epoch, leader, seq, joinId, index, count, frames };
  }
  const [member, joinId] = fields as [string, string];
  if (kind === 'join') return { kind, member, joinId };
  return kind === 'told' ? { kind, member, frames } : 'malformed';
}

function framesOf(packed: readonly (number | Uint8Array)[]): readonly FeedFrame[] {
  const frames: FeedFrame[] = [];
  for (let i = 0; i + 1 < packed.length; i += 2) {
    const [type, bytes] = [packed[i] as number, packed[i + 1] as Uint8Array];
    frames.push({ type, payload: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) });
  }
  return frames;
}
