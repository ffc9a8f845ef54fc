/** Every error a caller can meet: its HTTP status, and what it means. `rpc_error` has the status of its own case. */
export const ERRORS = {
  invalid_address: { status: 400, meaning: 'a parameter is not an address: 32 bytes in base58' },
  invalid_signature: { status: 400, meaning: 'a parameter is not a transaction signature: 64 bytes in base58' },
  invalid_slot: { status: 400, meaning: 'a slot is not a decimal number' },
  invalid_page: { status: 400, meaning: 'a page is not a number from 1 on' },
  invalid_query: {
    status: 400,
    meaning: 'a query parameter is unknown, repeated, badly escaped or has a value that it can not take',
  },
  invalid_cursor: { status: 400, meaning: '`before` is not a signature' },
  invalid_json: { status: 400, meaning: 'the request body is not JSON, or nests too deep' },
  invalid_request: {
    status: 400,
    meaning: 'the request is not framed as HTTP wants it, or its body is not what the route takes',
  },
  invalid_params: { status: 400, meaning: '`params` is not an array, or holds a number that would be rounded' },
  invalid_nonce: { status: 400, meaning: 'the nonce is malformed, or sent where nothing is signed for it' },
  unclassifiable: { status: 400, meaning: 'the search text is nothing that can be looked up' },
  invalid_api_key: { status: 401, meaning: 'the API key is unknown, revoked or expired' },
  invalid_stake_proof: { status: 401, meaning: 'the stake proof does not verify' },
  rpc_method_not_allowed: { status: 403, meaning: 'the method is not one of the read methods that pass' },
  not_found: { status: 404, meaning: 'there is no such thing' },
  slot_skipped: { status: 404, meaning: 'the slot has no block and never will' },
  block_not_available: { status: 404, meaning: 'the block is not there yet' },
  cursor_not_found: { status: 404, meaning: '`before` names a signature that the cluster does not know' },
  not_a_mint: { status: 404, meaning: 'the account is not a mint' },
  unknown_key: { status: 404, meaning: 'no key of this gateway has this id' },
  route_not_found: { status: 404, meaning: 'no route has this path' },
  method_not_allowed: { status: 405, meaning: 'the path takes other methods, named in `Allow`' },
  block_pruned: { status: 410, meaning: 'the block is older than what the upstreams keep' },
  key_revoked: { status: 410, meaning: 'the key is void; so is every receipt it signed' },
  payload_too_large: { status: 413, meaning: 'the request body is too long' },
  result_too_large: { status: 413, meaning: 'the answer would be too long' },
  uri_too_long: { status: 414, meaning: 'the canonical request is over 2,045 bytes' },
  unsupported_media_type: { status: 415, meaning: 'the request body is not `application/json`' },
  upgrade_required: { status: 426, meaning: 'the path is a WebSocket, version 13' },
  rate_limited: { status: 429, meaning: 'the window is used up; `Retry-After` says when it starts anew' },
  internal_error: { status: 500, meaning: 'a defect of the gateway; its log has the `X-Request-Id`' },
  holders_unavailable: { status: 501, meaning: 'no upstream lists the holders of this mint' },
  upstream_error: { status: 502, meaning: 'the upstream answered something else than it was asked' },
  rpc_error: {
    status: 502,
    meaning: 'the upstream refused the call: its number is in `X-Rpc-Error-Code` and opens the message',
  },
  unhealthy: { status: 503, meaning: 'the gateway can not answer as it should; the message says why' },
  upstream_unavailable: { status: 503, meaning: 'no upstream can be reached, or all ask for a pause' },
  stale: {
    status: 503,
    meaning:
      'the newest proof that the answer still holds is too old, or no upstream is as far as what was told before',
  },
  min_slot_not_reached: { status: 503, meaning: 'no upstream has reached the slot that the request asks for' },
  overloaded: { status: 503, meaning: 'too much is under way; nothing was asked of the upstream' },
  warming_up: { status: 503, meaning: 'the gateway has not read this from the cluster yet' },
  shutting_down: { status: 503, meaning: 'the gateway is about to end' },
  upstream_timeout: { status: 504, meaning: 'the upstream did not answer in time' },
} as const;

export type ErrorCode = keyof typeof ERRORS;

export interface ErrorDetails {
  /** Only for `rpc_error`, whose status depends on the node's code. */
  readonly status?: number;
  /** Whole seconds for the `Retry-After` header. A 503 has 1 unless it says otherwise. */
  readonly retryAfter?: number;
  /** The node's JSON-RPC code, for the `X-Rpc-Error-Code` header. */
  readonly rpcCode?: number;
  /** Methods for the `Allow` header of a 405. */
  readonly allow?: string;
  /** True for a fact about finalized history, which nothing that is to come can change. */
  readonly final?: boolean;
  /** What happened inside. For the log, never for the caller. */
  readonly cause?: unknown;
}

/** The one error a caller ever sees. Anything else that is thrown is a defect and becomes `internal_error`. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly retryAfter: number | undefined;
  readonly rpcCode: number | undefined;
  readonly allow: string | undefined;
  readonly final: boolean;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.status = details.status ?? ERRORS[code].status;
    this.retryAfter = details.retryAfter ?? (this.status === 503 ? 1 : undefined);
    this.rpcCode = details.rpcCode;
    this.allow = details.allow;
    this.final = details.final ?? false;
  }

  /** The response body: exactly these two members. */
  toJSON(): { error: ErrorCode; message: string } {
    return { error: this.code, message: this.message };
  }

  static from(thrown: unknown): GatewayError {
    return thrown instanceof GatewayError
      ? thrown
      : new GatewayError('internal_error', 'internal error', { cause: thrown });
  }
}
