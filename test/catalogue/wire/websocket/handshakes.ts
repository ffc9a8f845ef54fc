import { HANDSHAKE, upgrade } from '../../../support/peer.ts';

/** A handshake, and how it has to be answered: RFC 6455 4.2. */
export interface Handshake {
  readonly what: string;
  readonly packet: string;
  readonly status: readonly number[];
  /** What the answer has to have besides. */
  readonly has?: RegExp;
}

const without = (name: keyof typeof HANDSHAKE): string => upgrade().replace(`${name}: ${HANDSHAKE[name]}\r\n`, '');

export const HANDSHAKES: readonly Handshake[] = [
  {
    what: 'the good one',
    packet: upgrade(),
    status: [101],
    has: /sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/i,
  },
  { what: 'Upgrade in any case', packet: upgrade('', { Upgrade: 'WebSocket' }), status: [101] },
  { what: 'Upgrade in a list', packet: upgrade('', { Connection: 'keep-alive, Upgrade' }), status: [101] },
  {
    what: 'a subprotocol',
    packet: upgrade('', { 'Sec-WebSocket-Protocol': 'a, b' }),
    status: [101],
    has: /^(?!.*sec-websocket-protocol)/is,
  },
  {
    what: 'an extension',
    packet: upgrade('', { 'Sec-WebSocket-Extensions': 'permessage-deflate' }),
    status: [101],
    has: /^(?!.*sec-websocket-extensions)/is,
  },
  {
    what: 'version 8',
    packet: upgrade('', { 'Sec-WebSocket-Version': '8' }),
    status: [426],
    has: /sec-websocket-version: 13\r\n/i,
  },
  { what: 'no version', packet: without('Sec-WebSocket-Version'), status: [400, 426] },
  { what: 'no key', packet: without('Sec-WebSocket-Key'), status: [400, 426] },
  { what: 'a key that is too short', packet: upgrade('', { 'Sec-WebSocket-Key': 'AAAA' }), status: [400, 426] },
  { what: 'a key that is no base64', packet: upgrade('', { 'Sec-WebSocket-Key': '?'.repeat(24) }), status: [400, 426] },
  { what: 'no Upgrade', packet: without('Upgrade'), status: [400, 426] },
  { what: 'another Upgrade', packet: upgrade('', { Upgrade: 'h2c' }), status: [400, 426] },
  { what: 'no Connection', packet: without('Connection'), status: [400, 426] },
  { what: 'no Host', packet: without('Host'), status: [400] },
  { what: 'POST', packet: upgrade().replace('GET', 'POST'), status: [400, 405] },
  { what: 'HTTP/1.0', packet: upgrade().replace('HTTP/1.1', 'HTTP/1.0'), status: [400, 505] },
];
