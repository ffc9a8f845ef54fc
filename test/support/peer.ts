import { type Frame, framesIn, OP } from './frame.ts';
import { inTurn } from './in-turn.ts';
import { Line } from './line.ts';
import { fenceOf } from './raw.ts';

export const HANDSHAKE = {
  Host: 'gateway.example',
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
} as const;

/** A request for the stream. `headers` are added to those of the handshake, or take their place. */
export const upgrade = (query = '', headers: Readonly<Record<string, string>> = {}): string =>
  `GET /api/v1/stream${query} HTTP/1.1\r\n${Object.entries({ ...HANDSHAKE, ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;

/** A client of the stream that may send whatever it likes. */
export class Peer {
  readonly line: Line;
  readonly #url: string;

  static async open(url: string, query = '', from?: string): Promise<Peer> {
    const peer = new Peer(await Line.open(url, from), url);
    peer.line.write(upgrade(query));
    await fenceOf(url).pass();
    if (!peer.line.text.startsWith('HTTP/1.1 101')) throw new Error(`no upgrade: ${peer.line.text}`);
    return peer;
  }

  private constructor(line: Line, url: string) {
    this.line = line;
    this.#url = url;
  }

  /** Sends packets, each after the gateway has read the one before. */
  async say(...packets: readonly Buffer[]): Promise<void> {
    for (const packet of packets) {
      this.line.write(packet);
      await fenceOf(this.#url).pass();
    }
  }

  get frames(): readonly Frame[] {
    const { text } = this.line;
    return framesIn(Buffer.from(text.slice(text.indexOf('\r\n\r\n') + 4), 'latin1'));
  }

  /** What was said to it, the network's own frames left out. */
  get heard(): readonly Frame[] {
    return this.frames.filter(({ payload }) => !payload.subarray(0, 9).equals(NETWORK));
  }

  /** The code that it was closed with; 1006 when it was cut off, undefined while it is open. */
  get code(): number | undefined {
    const close = this.frames.find(({ opcode }) => opcode === OP.close);
    if (close !== undefined) return close.payload.length < 2 ? 1005 : close.payload.readUInt16BE();
    return this.line.closed ? 1006 : undefined;
  }
}

/** Opens many peers, a few at a time. */
export async function openPeers(url: string, count: number): Promise<readonly Peer[]> {
  const peers: Peer[] = [];
  await inTurn(Array(count).fill(url), AT_ONCE, async () => void peers.push(await Peer.open(url)));
  return peers;
}

const AT_ONCE = 50;
const NETWORK = Buffer.from('{"result"');
