/** A body, or the parts of one: a long part is then not copied to put something before it. */
export type RawBody = string | Buffer | readonly Buffer[];

export function partsOf(body: RawBody): readonly Buffer[] {
  if (typeof body === 'string') return [Buffer.from(body)];
  return Buffer.isBuffer(body) ? [body] : body;
}

export const byteLengthOf = (body: RawBody): number =>
  typeof body === 'string' ? Buffer.byteLength(body) : partsOf(body).reduce((sum, { length }) => sum + length, 0);

export interface RawResponse {
  /** Status line and headers, without the leading `HTTP/1.1`. */
  readonly headers: string | Buffer;
  /** Null for a status without a body. */
  readonly body: RawBody | null;
  /** True closes the connection behind the response: the rest of it can't be trusted, or the process is ending. */
  readonly close?: boolean;
}

/** A response whose body is written later, in parts. */
export interface StreamedResponse {
  /** Status line and headers, without the leading `HTTP/1.1`. */
  readonly headers: string;
  /** Called once the response has begun. */
  begin(startParts: StartParts): void;
}

/** Begins the body. `onEnd` is called once, when nothing more can be written; `onRoom` when a slow reader is not behind any more. */
export type StartParts = (onRoom: () => void, onEnd: () => void) => ResponseParts;

/** A response whose body is sent in parts, for as long as its reader stays. */
export interface ResponseParts {
  /** False if the reader is behind: `onRoom` is called once it isn't. */
  write(part: string): boolean;
  /** Completes the response with a last part. The engine closes the connection of a reader that does not receive it. */
  end(part: string): void;
}

/** The longest body that is given to the engine whole: as much as it collects before it calls the kernel. */
export const WHOLE_BODY_BYTES = 16 * 1024;

/** The most bytes of a UTF-16 unit in UTF-8. */
const BYTES_PER_UNIT = 3;
const scratch = Buffer.allocUnsafeSlow(BYTES_PER_UNIT * WHOLE_BODY_BYTES);

/** Valid until the next call. The engine reads a text twice to make bytes of it, which takes longer. */
export function bytesOf(body: string | Buffer): Buffer {
  if (typeof body !== 'string') return body;
  return body.length > WHOLE_BODY_BYTES ? Buffer.from(body) : scratch.subarray(0, scratch.write(body));
}
