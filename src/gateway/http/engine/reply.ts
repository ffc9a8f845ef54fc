import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { WorkPerTurn } from '../../../shared/runtime/work-per-turn.ts';
import type { BodySender } from './body-sender.ts';
import type { EngineResponse } from './engine.ts';
import type { CallerKey } from './pending-bytes.ts';
import {
  byteLengthOf,
  bytesOf,
  partsOf,
  type RawBody,
  type RawResponse,
  type ResponseParts,
  type StreamedResponse,
  WHOLE_BODY_BYTES,
} from './raw-response.ts';

const NOTHING = (): void => {};

/** The parts of a body that may be shorter on average than {@link MIN_PART_BYTES} in a turn of the event loop: each takes about 1 us. */
const MAX_SHORT_PARTS = 512;
const MIN_PART_BYTES = 64;
/** The parts of all bodies in a turn after which a body may have {@link FEW_SHORT_PARTS} such parts. */
const MANY_PARTS = 4096;
const FEW_SHORT_PARTS = 16;
/** The turn of the event loop, by number, and the parts of bodies in it. */
let [turn, partsInTurn] = [0, 0];

/** The requests that are not answered yet, and what sends the answers. */
export interface PendingResponses {
  count: number;
  readonly awaited: WorkPerTurn;
  readonly bodies: BodySender;
}

/** Facts about a request that are needed after the engine has reused it. */
export interface ReplyOptions {
  /** True for a HEAD: the response has all headers, Content-Length too, and no body. */
  readonly isHead: boolean;
  /** True if the request has `Connection: close`: the engine then sends no such header of its own (RFC 9112 9.6). */
  readonly hasConnectionClose: boolean;
  readonly onAborted?: () => void;
}

/**
 * A response that may be written after its handler has returned. The engine frees its response object when the caller
 * disconnects and aborts the process on a later write, so asynchronous code writes to a Reply instead. The handler
 * creates it before its first await.
 */
export class Reply {
  readonly #res: EngineResponse;
  readonly #pendingResponses: PendingResponses;
  readonly #options: ReplyOptions;
  #isDone = false;
  #abortion: AbortController | undefined;
  /** Who the body is owed to, and how many bytes of it were counted before it is sent. */
  #caller: CallerKey = '';
  #reserved = 0;
  #stopSending = NOTHING;

  constructor(
    res: EngineResponse,
    pendingResponses: PendingResponses,
    options: ReplyOptions = { isHead: false, hasConnectionClose: false },
  ) {
    this.#res = res;
    this.#pendingResponses = pendingResponses;
    this.#options = options;
    pendingResponses.count++;
    res.onAborted(() => {
      this.#markDone();
      this.#abortion?.abort();
      options.onAborted?.();
    });
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  get signal(): AbortSignal {
    this.#abortion ??= new AbortController();
    return this.#abortion.signal;
  }

  #markDone(): void {
    if (!this.#isDone) this.#pendingResponses.count--;
    this.#isDone = true;
    this.#stopSending();
    this.#pendingResponses.bodies.owed.settle(this.#caller, this.#reserved);
    this.#reserved = 0;
  }

  /** Returns the error to send if the caller is owed too much already, else counts a long body as owed. */
  reserve(body: RawResponse['body'], caller: CallerKey): GatewayError | undefined {
    this.#caller = caller;
    if (this.#isDone || this.#options.isHead || body === null || isShort(body)) return undefined;
    const bytes = byteLengthOf(body);
    const refusal = this.#pendingResponses.bodies.owed.add(caller, bytes);
    if (refusal === undefined) this.#reserved = bytes;
    return refusal;
  }

  send({ headers, body, close = false }: RawResponse): void {
    if (this.#isDone) return;
    if (body === null || this.#options.isHead) {
      if (close || !this.#pendingResponses.bodies.mustCloseBehindBodiless(this.#caller))
        this.#sendWithoutBody(headers, body, close);
      else this.sendAndClose({ headers, body });
    } else if (this.#reserved > 0) this.#sendInPieces(headers, partsOf(body), close);
    else this.#sendWhole(headers, typeof body === 'string' ? body : wholeOf(partsOf(body)), close);
  }

  /** Sends a response whose body is written in parts. */
  sendParts({ headers, begin }: StreamedResponse): void {
    if (this.#isDone) return;
    const res = this.#res;
    res.cork(() => res.writeStatus(headers));
    begin((onRoom, onEnd) => this.#startParts(onRoom, onEnd));
  }

  #startParts(onRoom: () => void, onEnd: () => void): ResponseParts {
    const res = this.#res;
    res.onWritable(() => {
      if (!this.#isDone) onRoom();
      return true;
    });
    this.#stopSending = () => {
      this.#stopSending = NOTHING;
      onEnd();
    };
    return {
      write: (part) => {
        let hasRoom = false;
        if (!this.#isDone)
          res.cork(() => {
            hasRoom = res.write(part);
          });
        return hasRoom;
      },
      end: (part) => {
        if (this.#isDone) return;
        res.cork(() => res.end(Buffer.from(part))); // ordered to close, uWebSockets.js would write a header into the body
        this.#markDone();
      },
    };
  }

  #sendWhole(headers: RawResponse['headers'], body: string | Buffer, close: boolean): void {
    const res = this.#res;
    const { bodies } = this.#pendingResponses;
    if (close)
      res.cork(() => {
        res.writeStatus(this.#options.hasConnectionClose ? `${headers}\r\nConnection: close` : headers);
        res.end(bytesOf(body), true);
      });
    else if (!bodies.sendWhole(res, headers, body)) bodies.handOver(res, body, this.#caller);
    this.#markDone();
  }

  /** Sends a long body as fast as its reader receives it. */
  #sendInPieces(headers: RawResponse['headers'], parts: readonly Buffer[], close: boolean): void {
    const res = this.#res;
    this.#reserved = 0; // the sender settles it from here on
    res.cork(() => {
      res.writeStatus(close ? `${headers}\r\nConnection: close` : headers);
      this.#stopSending = this.#pendingResponses.bodies.start(res, parts, this.#caller, close, () => this.#markDone());
    });
  }

  #sendWithoutBody(headers: RawResponse['headers'], body: RawResponse['body'], close: boolean): void {
    const res = this.#res;
    this.#markDone();
    const length = body === null ? [] : [`Content-Length: ${byteLengthOf(body)}`];
    if (close) {
      // The engine's own call would leave the connection open, or send a length of 0. Without it we add the Date header.
      const lines = [headers, ...length, `Date: ${new Date().toUTCString()}`, 'Connection: close', ''];
      res.cork(() => res.writeStatus(lines.join('\r\n')));
      res.close();
      return;
    }
    // Given a length, the engine would wait for that many bytes, and the next request would end the connection.
    res.cork(() => {
      res.writeStatus([headers, ...length].join('\r\n'));
      res.endWithoutBody();
    });
  }

  /**
   * Writes a response and closes the connection behind it. It waits first: after a synchronous response the engine goes
   * on to the next request in the packet. It waits for a timer: the engine never frees a connection that is closed from
   * setImmediate, which runs after the engine's clean-up in a turn of the event loop.
   */
  sendAndClose({ headers, body }: RawResponse): void {
    const text = String(headers); // the bytes of a template are soon overwritten
    setTimeout(() => this.send({ headers: text, body, close: true }), 0);
  }

  /** Reads the request body. Rejects with `payload_too_large` if it is longer than `maxBytes`; closes on a packet of crumbs. */
  readBody(maxBytes: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      let inTurn = { turn, parts: 0, bytes: 0 };
      this.#res.onData((chunk, isLast) => {
        if (this.#isDone) return;
        const before = bytes;
        bytes += chunk.byteLength;
        if (partsInTurn++ === 0)
          setImmediate(() => {
            [turn, partsInTurn] = [turn + 1, 0];
          });
        if (inTurn.turn !== turn) inTurn = { turn, parts: 0, bytes: 0 };
        inTurn.parts++;
        inTurn.bytes += chunk.byteLength;
        const mostShort = partsInTurn > MANY_PARTS ? FEW_SHORT_PARTS : MAX_SHORT_PARTS;
        if (inTurn.parts > mostShort && inTurn.bytes < inTurn.parts * MIN_PART_BYTES) {
          this.#markDone();
          this.#res.close(); // nothing else ends the engine's work on the parts that it has read
          return;
        }
        if (bytes > maxBytes) {
          chunks.length = 0;
          if (before <= maxBytes) reject(bodyTooLong(maxBytes));
          return;
        }
        if (chunks.length >= MAX_SHORT_PARTS) chunks.splice(0, chunks.length, Buffer.concat(chunks)); // short ones take 100 bytes each
        chunks.push(Buffer.from(chunk.slice(0))); // the engine reuses the memory
        if (isLast) resolve(Buffer.concat(chunks));
      });
    });
  }
}

export const bodyTooLong = (maxBytes: number): GatewayError =>
  new GatewayError('payload_too_large', `the request body is longer than ${maxBytes} bytes`);

const isShort = (body: RawBody): boolean =>
  (typeof body === 'string' ? body.length : byteLengthOf(body)) <= WHOLE_BODY_BYTES;

const wholeOf = (parts: readonly Buffer[]): Buffer =>
  parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
