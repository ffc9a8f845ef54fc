/** A response as it is written to the socket. */
export interface RawResponse {
  /** Status line and headers, without the leading `HTTP/1.1`. */
  readonly headers: string | Buffer;
  /** Null for a status without a body. */
  readonly body: string | Buffer | null;
  /** True closes the connection behind the response: the rest of it can't be trusted, or the process is ending. */
  readonly close?: boolean;
}
