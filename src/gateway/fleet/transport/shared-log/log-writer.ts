import { closeSync, openSync, writeSync } from 'node:fs';

/** The length of the head of the file: the end of the log and its complement; the rest is room for later versions. */
export const LOG_HEAD_BYTES = 64;

/** The head of a frame: the length of the payload, u32 in little-endian. */
export const FRAME_HEAD_BYTES = 4;

/** The most that is written at one time: a reader that is so near to being overtaken has to join again. */
export const MAX_BATCH_BYTES = 1 << 20;

export const MAX_PAYLOAD_BYTES = MAX_BATCH_BYTES - FRAME_HEAD_BYTES;

/** The length of the log without its head: seconds of the busiest traffic. */
export const LOG_BYTES = 16 << 20;

export interface LogWriterOptions {
  /** The file, which must not exist yet; on tmpfs, so that writing is copying. */
  readonly path: string;
  readonly bytes: number;
}

/**
 * Appends frames to a log of fixed length in a file that many processes read. A place in the log (LSN) is a count of bytes
 * that only grows; modulo the length it is where the byte lies. Data is written before the head with its end, so a reader
 * of the end can read all before it, also after the writer was killed.
 */
export class LogWriter {
  readonly #file: number;
  readonly #bytes: number;
  readonly #head = Buffer.alloc(16);
  #end = 0;
  #batch: Buffer[] = [];
  #batchBytes = 0;

  /** Creates the file, which only its owner can read, and fills it: so room on the disk can't run out later. */
  constructor({ path, bytes }: LogWriterOptions) {
    this.#file = openSync(path, 'wx', 0o600);
    this.#bytes = bytes;
    const zeros = Buffer.alloc(Math.min(bytes, MAX_BATCH_BYTES));
    for (let at = 0; at < bytes; at += zeros.length)
      writeSync(this.#file, zeros, 0, Math.min(zeros.length, bytes - at), LOG_HEAD_BYTES + at);
    this.#writeHead();
  }

  get end(): number {
    return this.#end;
  }

  /** Adds a frame to the batch, which readers see after {@link flush}. Throws if the payload is too long. */
  append(payload: Buffer): void {
    if (payload.length > MAX_PAYLOAD_BYTES)
      throw new Error(`a frame of ${payload.length} bytes is too long for the log`);
    const length = FRAME_HEAD_BYTES + payload.length;
    if (this.#batchBytes + length > MAX_BATCH_BYTES) this.flush();
    const head = Buffer.allocUnsafe(FRAME_HEAD_BYTES);
    head.writeUInt32LE(payload.length, 0);
    this.#batch.push(head, payload);
    this.#batchBytes += length;
  }

  /** Makes the batch visible to all readers at one moment. Returns the new end. */
  flush(): number {
    if (this.#batchBytes === 0) return this.#end;
    const data = Buffer.concat(this.#batch, this.#batchBytes);
    this.#batch = [];
    this.#batchBytes = 0;
    const at = this.#end % this.#bytes;
    const first = Math.min(data.length, this.#bytes - at);
    writeSync(this.#file, data, 0, first, LOG_HEAD_BYTES + at);
    if (first < data.length) writeSync(this.#file, data, first, data.length - first, LOG_HEAD_BYTES);
    this.#end += data.length;
    this.#writeHead();
    return this.#end;
  }

  close(): void {
    closeSync(this.#file);
  }

  #writeHead(): void {
    const end = BigInt(this.#end);
    this.#head.writeBigUInt64LE(end, 0);
    this.#head.writeBigUInt64LE(BigInt.asUintN(64, ~end), 8);
    writeSync(this.#file, this.#head, 0, this.#head.length, 0);
  }
}
