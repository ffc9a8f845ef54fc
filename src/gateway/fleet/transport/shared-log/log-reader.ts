import { closeSync, openSync, readSync } from 'node:fs';
import { FRAME_HEAD_BYTES, LOG_HEAD_BYTES, MAX_BATCH_BYTES } from './log-writer.ts';

export interface LogReaderOptions {
  readonly path: string;
  /** The length of the log without its head. */
  readonly bytes: number;
  readonly from: number;
  /** Called with each frame and its place. The payload is valid during the call only. */
  readonly onFrame: (payload: Buffer, at: number) => void;
}

/** How often a head that is being written is read again, until the end that was seen before counts as the present one. */
const MAX_TORN_READS = 1000;

/** Reads the log of a {@link LogWriter} of another process. */
export class LogReader {
  readonly #file: number;
  readonly #options: LogReaderOptions;
  readonly #head = Buffer.alloc(16);
  readonly #data = Buffer.allocUnsafe(MAX_BATCH_BYTES);
  #at: number;
  #knownEnd: number;

  constructor(options: LogReaderOptions) {
    this.#options = options;
    this.#at = options.from;
    this.#knownEnd = options.from;
    this.#file = openSync(options.path, 'r');
  }

  /** Handles all frames that the log has by now. Returns false once the writer has overtaken this reader. */
  catchUp(): boolean {
    let end = this.#end();
    while (this.#at < end) {
      const length = Math.min(end - this.#at, this.#data.length);
      this.#read(length);
      end = this.#end();
      if (end - this.#at > this.#options.bytes - MAX_BATCH_BYTES) return false; // a batch may be on its way over this
      this.#handleFrames(length);
    }
    return true;
  }

  close(): void {
    closeSync(this.#file);
  }

  #read(length: number): void {
    const at = this.#at % this.#options.bytes;
    const first = Math.min(length, this.#options.bytes - at);
    readSync(this.#file, this.#data, 0, first, LOG_HEAD_BYTES + at);
    if (first < length) readSync(this.#file, this.#data, first, length - first, LOG_HEAD_BYTES);
  }

  /** Handles the whole frames of what was read. A reader comes back from {@link catchUp} in the midst of none. */
  #handleFrames(length: number): void {
    let at = 0;
    while (at + FRAME_HEAD_BYTES <= length) {
      const payload = at + FRAME_HEAD_BYTES;
      const next = payload + this.#data.readUInt32LE(at);
      if (next > length) break;
      const place = this.#at + at;
      at = next;
      this.#options.onFrame(this.#data.subarray(payload, next), place);
    }
    this.#at += at;
  }

  /** Reads the end of the log. A head that is torn, since it is being written, is read again. */
  #end(): number {
    for (let tries = 0; tries < MAX_TORN_READS; tries++) {
      readSync(this.#file, this.#head, 0, 16, 0);
      const [low, high] = [this.#head.readUInt32LE(0), this.#head.readUInt32LE(4)];
      const isWhole = low === ~this.#head.readUInt32LE(8) >>> 0 && high === ~this.#head.readUInt32LE(12) >>> 0;
      if (!isWhole) continue;
      this.#knownEnd = high * 2 ** 32 + low;
      break;
    }
    return this.#knownEnd;
  }
}
