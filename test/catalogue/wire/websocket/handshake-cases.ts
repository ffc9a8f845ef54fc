import { HANDSHAKE_HEADERS, upgradeRequest } from '../../../support/websocket-peer.ts';

/** A handshake and the required response: RFC 6455 4.2. */
export interface HandshakeCase {
  readonly title: string;
  readonly packet: string;
  readonly status: readonly number[];
  /** Pattern that the response must also match. */
  readonly pattern: RegExp;
}

const handshake = (
  title: string,
  headers: Readonly<Record<string, string>>,
  status: readonly number[],
  pattern = /^/,
): HandshakeCase => ({ title, packet: upgradeRequest('', headers), status, pattern });

const changed = (title: string, change: (packet: string) => string, status: readonly number[]): HandshakeCase => ({
  ...handshake(title, {}, status),
  packet: change(upgradeRequest()),
});

const without = (name: keyof typeof HANDSHAKE_HEADERS, status: readonly number[] = [400, 426]): HandshakeCase =>
  changed(`no ${name}`, (packet) => packet.replace(`${name}: ${HANDSHAKE_HEADERS[name]}\r\n`, ''), status);

const protocol = (value: string): Readonly<Record<string, string>> => ({ 'Sec-WebSocket-Protocol': value });
const key = (value: string): Readonly<Record<string, string>> => ({ 'Sec-WebSocket-Key': value });
const NO_KEY = /^(?!.*sg_live_x)/is;

export const HANDSHAKE_CASES: readonly HandshakeCase[] = [
  handshake('the good one', {}, [101], /sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/i),
  handshake('Upgrade in any case', { Upgrade: 'WebSocket' }, [101]),
  handshake('Upgrade in a list', { Connection: 'keep-alive, Upgrade' }, [101]),
  handshake('Upgrade in the second of two lines', { Connection: 'keep-alive\r\nConnection: Upgrade' }, [101]),
  handshake('websocket in a list', { Upgrade: 'h2c, websocket' }, [101]),
  handshake('a subprotocol', protocol('a, b'), [101], /^(?!.*sec-websocket-protocol)/is),
  handshake('our subprotocol', protocol('slotgate'), [101], /sec-websocket-protocol: slotgate\r\n/i),
  handshake('our subprotocol with an invalid API key', protocol('slotgate, sg_live_x'), [401], NO_KEY),
  handshake('our subprotocol with two API keys', protocol('slotgate, sg_live_x, sg_live_y'), [400], NO_KEY),
  handshake(
    'an extension',
    { 'Sec-WebSocket-Extensions': 'permessage-deflate' },
    [101],
    /^(?!.*sec-websocket-extensions)/is,
  ),
  handshake('version 8', { 'Sec-WebSocket-Version': '8' }, [426], /sec-websocket-version: 13\r\n/i),
  without('Sec-WebSocket-Version'),
  without('Sec-WebSocket-Key'),
  handshake('a key that is too short', key('AAAA'), [400, 426]),
  handshake('a key that is no base64', key('?'.repeat(24)), [400, 426]),
  handshake('a key in two lines', key(`${HANDSHAKE_HEADERS['Sec-WebSocket-Key']}\r\nSec-WebSocket-Key: x`), [400]),
  without('Upgrade'),
  handshake('another Upgrade', { Upgrade: 'h2c' }, [400, 426]),
  without('Connection'),
  without('Host', [400]),
  changed('POST', (packet) => packet.replace('GET', 'POST'), [400, 405]),
  changed('HTTP/1.0', (packet) => packet.replace('HTTP/1.1', 'HTTP/1.0'), [400, 426, 505]),
];
