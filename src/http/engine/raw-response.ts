/** A response as it goes on the wire. */
export interface RawResponse {
  /** Status line and headers, without the first `HTTP/1.1`. */
  readonly headers: string | Buffer;
  /** Null for a status that has none. */
  readonly body: string | Buffer | null;
  /** Close the connection behind it: what follows on it can't be trusted, or the process is going. */
  readonly close?: boolean;
}
