import { HANDSHAKE_HEADERS, upgradeRequest } from '../../../support/websocket-peer.ts';

/** A handshake and the required response: RFC 6455 4.2. */
export interface HandshakeCase {
  readonly title: string;
  readonly packet: string;
  readonly status: readonly number[];
  /** Pattern that the response must also match. */
  readonly pattern?: RegExp;
}

const without = (name: keyof typeof HANDSHAKE_HEADERS): string =>
  upgradeRequest().replace(`${name}: ${HANDSHAKE_HEADERS[name]}\r\n`, '');

export const HANDSHAKE_CASES: readonly HandshakeCase[] = [
  {
    title: 'the good one',
    packet: upgradeRequest(),
    status: [101],
    pattern: /sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/i,
  },
  { title: 'Upgrade in any case', packet: upgradeRequest('', { Upgrade: 'WebSocket' }), status: [101] },
  { title: 'Upgrade in a list', packet: upgradeRequest('', { Connection: 'keep-alive, Upgrade' }), status: [101] },
  {
    title: 'a subprotocol',
    packet: upgradeRequest('', { 'Sec-WebSocket-Protocol': 'a, b' }),
    status: [101],
    pattern: /^(?!.*sec-websocket-protocol)/is,
  },
  {
    title: 'our subprotocol',
    packet: upgradeRequest('', { 'Sec-WebSocket-Protocol': 'slotgate' }),
    status: [101],
    pattern: /sec-websocket-protocol: slotgate\r\n/i,
  },
  {
    title: 'our subprotocol with an invalid API key',
    packet: upgradeRequest('', { 'Sec-WebSocket-Protocol': 'slotgate, sg_live_x' }),
    status: [401],
    pattern: /^(?!.*sg_live_x)/is,
  },
  {
    title: 'our subprotocol with two API keys',
    packet: upgradeRequest('', { 'Sec-WebSocket-Protocol': 'slotgate, sg_live_x, sg_live_y' }),
    status: [400],
    pattern: /^(?!.*sg_live_x)/is,
  },
  {
    title: 'an extension',
    packet: upgradeRequest('', { 'Sec-WebSocket-Extensions': 'permessage-deflate' }),
    status: [101],
    pattern: /^(?!.*sec-websocket-extensions)/is,
  },
  {
    title: 'version 8',
    packet: upgradeRequest('', { 'Sec-WebSocket-Version': '8' }),
    status: [426],
    pattern: /sec-websocket-version: 13\r\n/i,
  },
  { title: 'no version', packet: without('Sec-WebSocket-Version'), status: [400, 426] },
  { title: 'no key', packet: without('Sec-WebSocket-Key'), status: [400, 426] },
  { title: 'a key that is too short', packet: upgradeRequest('', { 'Sec-WebSocket-Key': 'AAAA' }), status: [400, 426] },
  {
    title: 'a key that is no base64',
    packet: upgradeRequest('', { 'Sec-WebSocket-Key': '?'.repeat(24) }),
    status: [400, 426],
  },
  { title: 'no Upgrade', packet: without('Upgrade'), status: [400, 426] },
  { title: 'another Upgrade', packet: upgradeRequest('', { Upgrade: 'h2c' }), status: [400, 426] },
  { title: 'no Connection', packet: without('Connection'), status: [400, 426] },
  { title: 'no Host', packet: without('Host'), status: [400] },
  { title: 'POST', packet: upgradeRequest().replace('GET', 'POST'), status: [400, 405] },
  { title: 'HTTP/1.0', packet: upgradeRequest().replace('HTTP/1.1', 'HTTP/1.0'), status: [400, 505] },
];
