import { forEachConcurrent } from './for-each-concurrent.ts';
import { RawConnection } from './raw-connection.ts';
import { barrierOf } from './raw-http.ts';
import { type Frame, OP, parseFrames } from './websocket-frame.ts';

export const HANDSHAKE_HEADERS = {
  Host: 'gateway.example',
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
} as const;

/** Builds the upgrade request of the stream. `headers` are added to those of the handshake, or replace them. */
export const upgradeRequest = (
  query = '',
  headers: Readonly<Record<string, string>> = {},
  path = '/api/v1/stream',
): string =>
  `GET ${path}${query} HTTP/1.1\r\n${Object.entries({ ...HANDSHAKE_HEADERS, ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;

/** A stream client that can send arbitrary bytes. */
export class WebSocketPeer {
  readonly connection: RawConnection;
  readonly #url: string;

  static async open(url: string, query = '', from?: string, path?: string): Promise<WebSocketPeer> {
    const peer = new WebSocketPeer(await RawConnection.open(url, from), url);
    peer.connection.write(upgradeRequest(query, {}, path));
    await barrierOf(url).wait();
    if (!peer.connection.text.startsWith('HTTP/1.1 101')) throw new Error(`no upgrade: ${peer.connection.text}`);
    return peer;
  }

  private constructor(connection: RawConnection, url: string) {
    this.connection = connection;
    this.#url = url;
  }

  /** Sends packets, each after the gateway has read the previous one. */
  async send(...packets: readonly Buffer[]): Promise<void> {
    for (const packet of packets) {
      this.connection.write(packet);
      await barrierOf(this.#url).wait();
    }
  }

  get frames(): readonly Frame[] {
    const { text } = this.connection;
    return parseFrames(Buffer.from(text.slice(text.indexOf('\r\n\r\n') + 4), 'latin1'));
  }

  /** Frames received, without network snapshots. */
  get replies(): readonly Frame[] {
    return this.frames.filter(({ payload }) => !payload.subarray(0, 9).equals(NETWORK));
  }

  /** Close code; 1006 if the connection was cut, undefined while it is open. */
  get closeCode(): number | undefined {
    const close = this.frames.find(({ opcode }) => opcode === OP.close);
    if (close !== undefined) return close.payload.length < 2 ? 1005 : close.payload.readUInt16BE();
    return this.connection.closed ? 1006 : undefined;
  }
}

/** Opens many peers, some at a time. */
export async function openPeers(url: string, count: number): Promise<readonly WebSocketPeer[]> {
  const peers: WebSocketPeer[] = [];
  await forEachConcurrent(
    Array(count).fill(url),
    CONCURRENT,
    async () => void peers.push(await WebSocketPeer.open(url)),
  );
  return peers;
}

const CONCURRENT = 50;
const NETWORK = Buffer.from('{"result"');
