/** A body, or the parts of one: a long part is then not copied to put something before it. */
export type RawBody = string | Buffer | readonly Buffer[];

/** Returns the bytes of a body, in parts. */
export function partsOf(body: RawBody): readonly Buffer[] {
  if (typeof body === 'string') return [Buffer.from(body)];
  return Buffer.isBuffer(body) ? [body] : body;
}

/** Returns the length of a body in bytes. */
export const byteLengthOf = (body: RawBody): number =>
  typeof body === 'string' ? Buffer.byteLength(body) : partsOf(body).reduce((sum, { length }) => sum + length, 0);

/** A response as it is written to the socket. */
export interface RawResponse {
  /** Status line and headers, without the leading `HTTP/1.1`. */
  readonly headers: string | Buffer;
  /** Null for a status without a body. */
  readonly body: RawBody | null;
  /** True closes the connection behind the response: the rest of it can't be trusted, or the process is ending. */
  readonly close?: boolean;
}
