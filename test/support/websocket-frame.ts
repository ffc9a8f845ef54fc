/** A frame as sent: RFC 6455 5.2. */
export interface Frame {
  readonly opcode: number;
  readonly payload: Buffer;
  readonly fin: boolean;
  readonly rsv: number;
}

export const OP = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export interface FrameOptions extends Partial<Pick<Frame, 'fin' | 'rsv'>> {
  readonly masked?: boolean;
  /** Bytes of the extended length: 0, 2 or 8. Default: the fewest possible. */
  readonly lengthBytes?: 0 | 2 | 8;
  /** Length to announce instead of the real one. */
  readonly length?: bigint;
}

const MASK = Buffer.from([0x12, 0x34, 0x56, 0x78]);

export function frame(opcode: number, payload: string | Buffer = '', options: FrameOptions = {}): Buffer {
  const { fin = true, rsv = 0, masked = true } = options;
  const data = Buffer.from(payload as string); // a copy, of a buffer too
  const length = options.length ?? BigInt(data.length);
  const lengthBytes = options.lengthBytes ?? (data.length < 126 ? 0 : data.length < 65_536 ? 2 : 8);
  const head = Buffer.alloc(2 + lengthBytes);
  head[0] = (fin ? 0x80 : 0) | (rsv << 4) | opcode;
  head[1] = (masked ? 0x80 : 0) | (lengthBytes === 0 ? Number(length) : lengthBytes === 2 ? 126 : 127);
  if (lengthBytes === 2) head.writeUInt16BE(Number(length), 2);
  if (lengthBytes === 8) head.writeBigUInt64BE(length, 2);
  if (!masked) return Buffer.concat([head, data]);
  for (let i = 0; i < data.length; i++) data[i] = (data[i] ?? 0) ^ (MASK[i % 4] ?? 0);
  return Buffer.concat([head, MASK, data]);
}

export function closePayload(code: number, reason: string | Buffer = ''): Buffer {
  const payload = Buffer.alloc(2);
  payload.writeUInt16BE(code);
  return Buffer.concat([payload, Buffer.from(reason as string)]); // of a buffer too
}

/** Splits a server's bytes into frames; an incomplete last one is left out. */
export function parseFrames(bytes: Buffer): readonly Frame[] {
  const frames: Frame[] = [];
  for (let at = 0; at + 2 <= bytes.length; ) {
    const [first = 0, second = 0] = bytes.subarray(at, at + 2);
    const short = second & 127;
    const lengthBytes = short === 127 ? 8 : short === 126 ? 2 : 0;
    const start = at + 2 + lengthBytes;
    if (start > bytes.length) break;
    const length = lengthBytes === 0 ? short : Number(BigInt(`0x${bytes.toString('hex', at + 2, start)}`));
    if (start + length > bytes.length) break;
    const payload = bytes.subarray(start, start + length);
    frames.push({ opcode: first & 15, payload, fin: first >= 128, rsv: (first >> 4) & 7 });
    at = start + length;
  }
  return frames;
}
