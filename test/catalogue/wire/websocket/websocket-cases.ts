import { closePayload, frame, OP } from '../../../support/websocket-frame.ts';
import type { WebSocketPeer } from '../../../support/websocket-peer.ts';

export interface WebSocketCase {
  readonly family: string;
  readonly title: string;
  /** Packets; each is sent after the gateway has read the previous one. */
  readonly packets: readonly Buffer[];
  readonly holds: (peer: WebSocketPeer) => boolean;
}

const PING = '{"op":"ping"}';
const padded = (length: number): string => PING.padEnd(length);

const isPong = (peer: WebSocketPeer): boolean =>
  peer.closeCode === undefined &&
  peer.replies.some(({ opcode, payload }) => opcode === OP.text && String(payload) === PONG);
const PONG = '{"type":"pong"}';

/** Returns whether the connection ended without an answer to any message. */
const isFailed = (peer: WebSocketPeer): boolean =>
  peer.connection.closed &&
  [1002, 1006, 1007].includes(peer.closeCode ?? 0) &&
  !peer.replies.some(({ opcode }) => opcode === OP.text);

const closedBy =
  (code: number) =>
  (peer: WebSocketPeer): boolean =>
    peer.connection.closed && peer.closeCode === code;

const echoes =
  (...payloads: readonly Buffer[]) =>
  (peer: WebSocketPeer): boolean => {
    const pongs = peer.replies.filter(({ opcode }) => opcode === OP.pong).map(({ payload }) => payload);
    return pongs.length === payloads.length && pongs.every((payload, i) => payloads[i]?.equals(payload) === true);
  };

const family =
  (family: string) =>
  (title: string, packets: Buffer | readonly Buffer[], holds: (peer: WebSocketPeer) => boolean): WebSocketCase => ({
    family,
    title,
    packets: Buffer.isBuffer(packets) ? [packets] : packets,
    holds,
  });

const bytewise = (bytes: Buffer): readonly Buffer[] => Array.from(bytes, (byte) => Buffer.from([byte]));
const text = (payload: string | Buffer, fin = true): Buffer => frame(OP.text, payload, { fin });
const more = (payload: string | Buffer, fin: boolean): Buffer => frame(OP.continuation, payload, { fin });
const json = (inner: Buffer): Buffer => Buffer.concat([Buffer.from('{"op":"ping","x":"'), inner, Buffer.from('"}')]);
const hex = (digits: string): Buffer => Buffer.from(digits, 'hex');

const framing = family('1 framing');
const pings = family('2 pings');
const reserved = family('3 reserved bits');
const opcodes = family('4 opcodes');
const fragments = family('5 fragments');
const utf8 = family('6 UTF-8');
const closes = family('7 close');
const limits = family('9 limits');

/** Cases after the families of the Autobahn test suite. */
export const WEBSOCKET_CASES: readonly WebSocketCase[] = [
  ...[13, 125, 126, 127, 128, 4096].map((length) => framing(`${length} bytes`, text(padded(length)), isPong)),
  framing('byte by byte', bytewise(text(PING)), isPong),
  framing(
    'two in one packet',
    Buffer.concat([text(PING), text(PING)]),
    (peer) => isPong(peer) && peer.replies.length === 2,
  ),
  framing('a binary message', frame(OP.binary, PING), closedBy(4403)),
  framing('no mask', frame(OP.text, PING, { masked: false }), isFailed),
  framing('a length longer than it needs', frame(OP.text, PING, { lengthBytes: 2 }), isFailed),
  framing('a length of 64 bits that needs 16', frame(OP.text, PING, { lengthBytes: 8 }), isFailed),
  framing('a length with the highest bit', frame(OP.text, PING, { lengthBytes: 8, length: 1n << 63n }), isFailed),
  ...[0, 1, 125].map((length) =>
    pings(`a ping of ${length} bytes`, frame(OP.ping, Buffer.alloc(length, 0xfe)), echoes(Buffer.alloc(length, 0xfe))),
  ),
  pings('a ping of 126 bytes', frame(OP.ping, Buffer.alloc(126)), isFailed),
  pings('a ping byte by byte', bytewise(frame(OP.ping, 'abc')), echoes(Buffer.from('abc'))),
  pings(
    'pings in one packet',
    Buffer.concat(['a', 'b', 'c'].map((payload) => frame(OP.ping, payload))),
    echoes(...['a', 'b', 'c'].map((payload) => Buffer.from(payload))),
  ),
  pings('a pong without a ping', [frame(OP.pong, 'x'), text(PING)], isPong),
  ...[1, 2, 3, 4, 5, 6, 7].map((rsv) => reserved(`bits ${rsv} on a text`, frame(OP.text, PING, { rsv }), isFailed)),
  reserved('on a ping', frame(OP.ping, 'a', { rsv: 1 }), isFailed),
  reserved(
    'on a close',
    frame(OP.close, closePayload(1000), { rsv: 4 }),
    (peer) => peer.connection.closed && peer.closeCode !== 1000,
  ),
  ...[3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map((opcode) => opcodes(`opcode ${opcode}`, frame(opcode, PING), isFailed)),
  fragments('a text in two', [text('{"op":', false), more('"ping"}', true)], isPong),
  fragments('a text in two, in one packet', Buffer.concat([text('{"op":', false), more('"ping"}', true)]), isPong),
  fragments(
    'a text in thirteen',
    [text('', false), ...[...PING].map((char, i) => more(char, i === PING.length - 1))],
    isPong,
  ),
  fragments('with empty ones', [text('', false), more(PING, false), more('', true)], isPong),
  fragments(
    'with a ping between',
    [text('{"op":', false), frame(OP.ping, 'a'), more('"ping"}', true)],
    (peer) => isPong(peer) && echoes(Buffer.from('a'))(peer),
  ),
  fragments('a ping in two', [frame(OP.ping, 'a', { fin: false }), more('b', true)], isFailed),
  fragments('a pong in two', [frame(OP.pong, 'a', { fin: false }), more('b', true)], isFailed),
  fragments('the rest of nothing', more(PING, true), isFailed),
  fragments('the rest of nothing, and more', [more('{"op":', false), text('"ping"}')], isFailed),
  fragments('a text within a text', [text('{"op":', false), text(PING)], isFailed),
  fragments('the rest of what is over', [text(PING), more('x', true)], (peer) => peer.connection.closed),
  utf8('letters of two, three and four bytes', text(json(Buffer.from('κ€𝄞'))), isPong),
  utf8(
    'a letter across fragments',
    [text(json(Buffer.from('κ')).subarray(0, 19), false), more(json(Buffer.from('κ')).subarray(19), true)],
    isPong,
  ),
  ...['80', 'c0af', 'eda080', 'f4908080', 'f8888080', 'ce', 'ff'].map((digits) =>
    utf8(`the bytes ${digits}`, text(json(hex(digits))), (peer) => isFailed(peer) || closedBy(4403)(peer)),
  ),
  utf8(
    'a bad letter across fragments',
    [text(Buffer.concat([Buffer.from('{"x":"'), hex('eda0')]), false), more(hex('80227d'), true)],
    (peer) => isFailed(peer) || closedBy(4403)(peer),
  ),
  closes(
    'no code',
    frame(OP.close),
    (peer) => peer.connection.closed && (peer.closeCode === 1005 || peer.closeCode === 1000),
  ),
  ...[1000, 1001, 1002, 1003, 1007, 1011, 3000, 3999, 4000, 4999].map((code) =>
    closes(`code ${code}`, frame(OP.close, closePayload(code)), closedBy(code)),
  ),
  closes('a reason', frame(OP.close, closePayload(1000, 'bye')), closedBy(1000)),
  closes('the longest reason', frame(OP.close, closePayload(1000, 'x'.repeat(123))), closedBy(1000)),
  ...[0, 999, 1004, 1006, 1016, 1100, 2000, 2999, 5000, 65_535].map((code) =>
    closes(
      `code ${code}`,
      frame(OP.close, closePayload(code)),
      (peer) => peer.connection.closed && peer.closeCode !== code,
    ),
  ),
  closes('the code that stands for none', frame(OP.close, closePayload(1005)), (peer) => peer.connection.closed),
  closes('a code of one byte', frame(OP.close, 'a'), (peer) => peer.connection.closed),
  closes(
    'a reason that is no UTF-8',
    frame(OP.close, closePayload(1000, hex('c328'))),
    (peer) => peer.connection.closed && peer.closeCode !== 1000,
  ),
  closes('a reason that is too long', frame(OP.close, closePayload(1000, 'x'.repeat(124))), isFailed),
  closes('in two', [frame(OP.close, closePayload(1000), { fin: false })], isFailed),
  closes(
    'and then a text',
    Buffer.concat([frame(OP.close, closePayload(1000)), text(PING)]),
    (peer) => peer.connection.closed && !isPongEver(peer),
  ),
  limits('a message of 4,097 bytes', text(padded(4097)), closedBy(1009)),
  limits('a message of 64 KiB', text(padded(65_536)), closedBy(1009)),
  limits('a message of 64 KiB and one', text(padded(65_537)), (peer) => peer.connection.closed),
  limits(
    'a length of 1 TiB',
    frame(OP.text, PING, { lengthBytes: 8, length: 1n << 40n }),
    (peer) => peer.connection.closed,
  ),
  limits(
    'fragments that make 128 KiB',
    [text('{', false), ...Array.from({ length: 32 }, () => more(' '.repeat(4096), false))],
    (peer) => peer.connection.closed,
  ),
];

function isPongEver(peer: WebSocketPeer): boolean {
  return peer.replies.some(({ payload }) => String(payload) === PONG);
}
