/** Every error code a caller can meet, and its HTTP status. `rpc_error` carries the status of its own case. */
export const ERROR_STATUS = {
  invalid_address: 400,
  invalid_signature: 400,
  invalid_slot: 400,
  invalid_page: 400,
  invalid_query: 400,
  invalid_cursor: 400,
  invalid_json: 400,
  invalid_request: 400,
  invalid_params: 400,
  invalid_nonce: 400,
  unclassifiable: 400,
  invalid_api_key: 401,
  invalid_stake_proof: 401,
  rpc_method_not_allowed: 403,
  not_found: 404,
  slot_skipped: 404,
  block_not_available: 404,
  cursor_not_found: 404,
  not_a_mint: 404,
  unknown_key: 404,
  route_not_found: 404,
  method_not_allowed: 405,
  block_pruned: 410,
  key_revoked: 410,
  payload_too_large: 413,
  result_too_large: 413,
  uri_too_long: 414,
  unsupported_media_type: 415,
  upgrade_required: 426,
  rate_limited: 429,
  internal_error: 500,
  holders_unavailable: 501,
  upstream_error: 502,
  rpc_error: 502,
  unhealthy: 503,
  upstream_unavailable: 503,
  stale: 503,
  min_slot_not_reached: 503,
  overloaded: 503,
  warming_up: 503,
  shutting_down: 503,
  upstream_timeout: 504,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

export interface ErrorDetails {
  /** Only for `rpc_error`, whose status depends on the node's code. */
  readonly status?: number;
  /** Whole seconds for the `Retry-After` header. A 503 has 1 unless it says otherwise. */
  readonly retryAfter?: number;
  /** The node's JSON-RPC code, for the `X-Rpc-Error-Code` header. */
  readonly rpcCode?: number;
  /** Methods for the `Allow` header of a 405. */
  readonly allow?: string;
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

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.status = details.status ?? ERROR_STATUS[code];
    this.retryAfter = details.retryAfter ?? (this.status === 503 ? 1 : undefined);
    this.rpcCode = details.rpcCode;
    this.allow = details.allow;
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
