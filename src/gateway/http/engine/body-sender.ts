import type { Clock } from '../../../shared/domain/clock.ts';
import type { EngineResponse } from './engine.ts';
import { type CallerKey, PendingBytes, type PendingBytesLimits } from './pending-bytes.ts';
import { byteLengthOf, bytesOf, type RawResponse, WHOLE_BODY_BYTES } from './raw-response.ts';
import { BODILESS_PER_COUNT, type ReaderSampling } from './reader-sampling.ts';

/** The bytes of a body that are given to the kernel at a time, about 0.1 ms of work. */
const PIECE_BYTES = 256 * 1024;

/** The bytes of bodies that go on, after which other events of the loop have their turn. */
const TURN_BYTES = 1024 * 1024;

/** The bytes after which no more bodies begin in a turn: a pipelined request behind one that waits ends its connection. */
const BEGUN_BYTES = 2 * TURN_BYTES;

/** The time over which the rate of a reader is measured, in milliseconds; the engine closes a silent one as late. */
const RATE_MS = 10_000;

/** The bytes that a reader receives in a second at the lowest rate allowed; fewer are allowed while fewer wait. */
const MIN_BYTES_PER_SECOND = 64 * 1024;

/**
 * The longest time over which a caller's readers may send requests while they receive nothing, in milliseconds. These
 * answers aren't owed any more, but the engine may still keep them.
 */
const MAX_BACKLOG_MS = 60_000;

/** Every engine has closed a connection without another request by then: `uws` does so last, after 32 s. */
const FORGOTTEN_MS = 40_000;

/** About the length of status line and headers, which the engine copies too. */
const HEADER_BYTES = 800;
const EMPTY = Buffer.alloc(0);

export interface BodySenderOptions {
  readonly pendingBytes: PendingBytesLimits;
  readonly clock: Clock;
  readonly sampling: ReaderSampling;
}

interface BodyJob {
  readonly res: EngineResponse;
  readonly caller: CallerKey;
  readonly parts: readonly Buffer[];
  readonly length: number;
  readonly closes: boolean;
  readonly onDone: () => void;
  /** The bytes that the kernel has accepted. */
  sent: number;
  /** The part in which the next byte is, and the bytes of those before it. */
  partIndex: number;
  partStart: number;
  sentAtLastCheck: number;
  isQueued: boolean;
  isOver: boolean;
  cancelCheck: () => void;
}

interface WholeResponse {
  readonly res: EngineResponse;
  readonly headers: RawResponse['headers'];
  readonly body: string | Buffer;
}

interface HandedOver {
  /** The bytes of them that are owed. */
  bytes: number;
  readonly sinceMs: number;
  lastMs: number;
}

/**
 * Sends bodies no faster than their readers receive them. The engine would copy what the kernel does not accept; here
 * all readers share the bytes, which are counted as owed until the kernel has them. A reader that is too slow is
 * disconnected.
 */
export class BodySender {
  readonly #owed: PendingBytes;
  readonly #clock: Clock;
  readonly #sampling: ReaderSampling;
  /** The jobs whose readers have room; each gets one piece in turn. */
  readonly #queue: BodyJob[] = [];
  #bytesOfTurn = 0;
  #isTurnOpen = false;
  readonly #handedOver = new Map<CallerKey, HandedOver>();
  /** The bytes of answers without a body that their readers may not have. */
  readonly #bodiless: PendingBytes;
  readonly #bodilessCallers = new Set<CallerKey>();

  #whole: WholeResponse | undefined;
  #isWritten = true;

  constructor({ pendingBytes, clock, sampling }: BodySenderOptions) {
    this.#owed = new PendingBytes(pendingBytes);
    this.#bodiless = new PendingBytes(pendingBytes);
    this.#clock = clock;
    this.#sampling = sampling;
  }

  /** The bytes that wait for all readers. */
  get owed(): PendingBytes {
    return this.#owed;
  }

  /** Call it corked, after the headers, for bytes added to {@link owed}. Returns the function that gives up the job. */
  start(
    res: EngineResponse,
    parts: readonly Buffer[],
    caller: CallerKey,
    closes: boolean,
    onDone: () => void,
  ): () => void {
    const length = byteLengthOf(parts);
    res.tryEnd(EMPTY, length); // this length becomes the header; later calls only compare it with what was sent
    const job: BodyJob = {
      res,
      parts,
      length,
      caller,
      closes,
      onDone,
      sent: 0,
      partIndex: 0,
      partStart: 0,
      sentAtLastCheck: 0,
      isQueued: false,
      isOver: false,
      cancelCheck: () => {},
    };
    // The connection must not be closed while it is corked.
    if (closes || this.#bytesOfTurn >= BEGUN_BYTES) this.#enqueue(job);
    else this.#sendPiece(job);
    if (!job.isOver) {
      this.#checkRateLater(job);
      res.onWritable(() => {
        this.#enqueue(job);
        return true; // nothing was written yet, which counts as success
      });
    }
    return () => this.#end(job);
  }

  /**
   * Writes headers and a body in one system call, also where other answers precede them in a packet. Returns false if
   * the kernel did not accept all of it: {@link handOver} then sends the rest. Of short bodies {@link ReaderSampling} says
   * which are checked, while every reader accepts what it requests; otherwise all are, and long ones always.
   */
  sendWhole(res: EngineResponse, headers: RawResponse['headers'], body: string | Buffer): boolean {
    this.#isWritten = true;
    this.#whole = { res, headers, body };
    res.cork(this.#writeWhole);
    this.#whole = undefined;
    return this.#isWritten;
  }

  /** Writes the response, corked; one function for all, since the engine keeps none. */
  readonly #writeWhole = (): void => {
    if (this.#whole === undefined) return;
    const { res, headers, body } = this.#whole;
    res.writeStatus(headers);
    const bytes = bytesOf(body);
    if (bytes.length <= WHOLE_BODY_BYTES && this.#handedOver.size === 0 && !this.#sampling.checksBody()) res.end(bytes);
    else this.#isWritten = res.tryEnd(bytes, bytes.length)[1];
  };

  /**
   * Hands the rest of a short body, of which `tryEnd` has not sent all, to the engine, which copies it: so a request
   * behind it is still answered. The engine doesn't report when the reader has it, so it is owed until a reader would
   * at the lowest rate allowed. Closes the connection if the caller is owed too much, or sends requests for too long
   * while nothing is received.
   */
  handOver(res: EngineResponse, body: string | Buffer, caller: CallerKey): void {
    const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body);
    const sent = res.getWriteOffset();
    const rest = bytes.length - sent + HEADER_BYTES;
    const nowMs = this.#clock.monotonic();
    const { bytes: kept, sinceMs } = this.#handedOver.get(caller) ?? { bytes: 0, sinceMs: nowMs };
    const isBacklogged = sent === 0 && nowMs - sinceMs > MAX_BACKLOG_MS;
    if (isBacklogged || this.#owed.add(caller, rest) !== undefined) {
      res.close();
      return;
    }
    if (this.#handedOver.size === 0) this.#clock.after(1000, () => this.#settleHandedOver());
    this.#handedOver.set(caller, { bytes: kept + rest, sinceMs, lastMs: nowMs });
    if (sent === 0) res.end(bytes);
    else res.cork(() => res.tryEnd(bytes.subarray(sent), bytes.length)); // into the buffer of the cork, which it fits
  }

  /**
   * Counts an answer without a body as owed until a reader would have it at the lowest rate allowed. Returns true if the
   * connection must be closed behind it, as {@link ReaderSampling} says.
   */
  mustCloseBehindBodiless(caller: CallerKey): boolean {
    if (!this.#sampling.countsBodiless()) return false;
    if (this.#bodiless.add(caller, HEADER_BYTES * BODILESS_PER_COUNT) !== undefined)
      return this.#sampling.closesBehindBodiless();
    if (this.#bodilessCallers.size === 0) this.#clock.after(1000, () => this.#settleBodiless());
    this.#bodilessCallers.add(caller);
    return false;
  }

  #settleBodiless(): void {
    for (const caller of this.#bodilessCallers) {
      this.#bodiless.settle(caller, Math.min(this.#bodiless.of(caller), MIN_BYTES_PER_SECOND));
      if (this.#bodiless.of(caller) === 0) this.#bodilessCallers.delete(caller);
    }
    if (this.#bodilessCallers.size > 0) this.#clock.after(1000, () => this.#settleBodiless());
  }

  #settleHandedOver(): void {
    const nowMs = this.#clock.monotonic();
    for (const [caller, handedOver] of this.#handedOver) {
      const settled = Math.min(handedOver.bytes, MIN_BYTES_PER_SECOND);
      this.#owed.settle(caller, settled);
      handedOver.bytes -= settled;
      if (handedOver.bytes === 0 && nowMs - handedOver.lastMs > FORGOTTEN_MS) this.#handedOver.delete(caller);
    }
    if (this.#handedOver.size > 0) this.#clock.after(1000, () => this.#settleHandedOver());
  }

  #enqueue(job: BodyJob): void {
    if (job.isQueued || job.isOver) return;
    job.isQueued = true;
    this.#queue.push(job);
    this.#openTurn();
  }

  #openTurn(): void {
    if (this.#isTurnOpen) return;
    this.#isTurnOpen = true;
    // From setImmediate the engine never frees a connection that is closed; a timer alone may run in the same turn again.
    setImmediate(() => setTimeout(() => this.#sendQueued(), 0));
  }

  #sendQueued(): void {
    this.#isTurnOpen = false;
    this.#bytesOfTurn = 0;
    for (let left = this.#queue.length; left > 0 && this.#bytesOfTurn < TURN_BYTES; left--) {
      const job = this.#queue.shift();
      if (job === undefined || job.isOver) continue;
      job.isQueued = false;
      this.#sendPiece(job);
    }
    if (this.#queue.length > 0) this.#openTurn();
  }

  /** Gives one piece to the kernel. */
  #sendPiece(job: BodyJob): void {
    this.#openTurn();
    const { res, length, caller, closes } = job;
    const before = job.sent;
    const piece = nextPieceOf(job);
    let [isWritten, isDone] = [false, false];
    res.cork(() => {
      // A length beyond the last byte keeps the response open, so that its connection can be closed behind it.
      [isWritten, isDone] = res.tryEnd(piece, closes ? length + 1 : length);
    });
    job.sent = isDone ? length : res.getWriteOffset();
    const bytes = job.sent - before;
    this.#bytesOfTurn += bytes;
    this.#owed.settle(caller, bytes);
    if (isDone) this.#finish(job);
    else if (isWritten && before === length) {
      this.#finish(job); // this empty piece has shown that the engine keeps nothing of those before
      res.close();
    } else if (isWritten) this.#enqueue(job); // else the engine calls when there is room
  }

  #finish(job: BodyJob): void {
    this.#end(job);
    job.onDone();
  }

  #end(job: BodyJob): void {
    if (job.isOver) return;
    job.isOver = true;
    job.cancelCheck();
    this.#owed.settle(job.caller, job.length - job.sent);
  }

  #checkRateLater(job: BodyJob): void {
    job.cancelCheck = this.#clock.after(RATE_MS, () => {
      const sent = job.sent - job.sentAtLastCheck;
      const waiting = job.length - job.sent;
      const isTooSlow =
        sent === 0 || (waiting > MIN_BYTES_PER_SECOND && sent < (MIN_BYTES_PER_SECOND * RATE_MS) / 1000);
      if (isTooSlow) job.res.close();
      else {
        job.sentAtLastCheck = job.sent;
        this.#checkRateLater(job);
      }
    });
  }
}

/** Returns the next bytes to send, none at the end. Only those at the border of two parts are copied. */
function nextPieceOf(job: BodyJob): Buffer {
  const { parts, sent } = job;
  for (let part = parts[job.partIndex]; part !== undefined; part = parts[job.partIndex]) {
    if (sent < job.partStart + part.length) break;
    job.partStart += part.length;
    job.partIndex++;
  }
  const pieces: Buffer[] = [];
  let room = PIECE_BYTES;
  for (let i = job.partIndex, from = sent - job.partStart; i < parts.length && room > 0; i++, from = 0) {
    const piece = parts[i]?.subarray(from, from + room) ?? EMPTY;
    pieces.push(piece);
    room -= piece.length;
  }
  return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
}
