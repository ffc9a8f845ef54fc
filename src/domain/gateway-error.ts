/** Every error that a caller can receive: its HTTP status and its meaning. The status of `rpc_error` depends on the node's code. */
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
  invalid_json: { status: 400, meaning: 'the request body is not JSON, or nests deeper than 64 levels' },
  invalid_request: {
    status: 400,
    meaning:
      'the request is malformed HTTP, the gateway does not answer for its `Host` or `Origin`, or its body is not of the form that the route takes, has too many values, or holds what no transaction can',
  },
  invalid_params: { status: 400, meaning: '`params` is not an array, or holds a number that would be rounded' },
  invalid_nonce: { status: 400, meaning: 'the nonce is malformed, or the response is not signed' },
  unclassifiable: { status: 400, meaning: 'the search text is no address, signature, slot or name' },
  invalid_api_key: { status: 401, meaning: 'the API key is unknown, revoked or expired' },
  invalid_stake_proof: { status: 401, meaning: 'the stake proof does not verify' },
  rpc_method_not_allowed: { status: 403, meaning: 'the method is not one of the read methods that are allowed' },
  not_found: { status: 404, meaning: 'the requested item does not exist' },
  slot_skipped: { status: 404, meaning: 'the slot has no block and never will' },
  block_not_available: { status: 404, meaning: 'the block does not exist yet' },
  cursor_not_found: { status: 404, meaning: '`before` names no transaction of the address that the cluster knows' },
  not_a_mint: { status: 404, meaning: 'the account is not a mint' },
  unknown_key: { status: 404, meaning: 'no key of this gateway has this id' },
  route_not_found: { status: 404, meaning: 'no route has this path' },
  method_not_allowed: { status: 405, meaning: 'the path has other methods, named in `Allow`' },
  block_pruned: { status: 410, meaning: 'the block is older than those that the upstreams keep' },
  key_revoked: { status: 410, meaning: 'the key is revoked, and every receipt it signed is void' },
  payload_too_large: { status: 413, meaning: 'the request body is too large; the message names the limit' },
  result_too_large: {
    status: 413,
    meaning: 'the answer would be too large, or larger than the tier of the caller gets',
  },
  uri_too_long: { status: 414, meaning: 'the canonical request is over 2,045 bytes' },
  unsupported_media_type: { status: 415, meaning: 'the request body is not `application/json`' },
  upgrade_required: { status: 426, meaning: 'the path is a WebSocket (version 13)' },
  rate_limited: {
    status: 429,
    meaning:
      'the request costs more units than are left in the window; the message names its price, and `Retry-After` says when units are free',
  },
  internal_error: { status: 500, meaning: 'a defect of the gateway; its log has the `X-Request-Id`' },
  holders_unavailable: { status: 501, meaning: 'no upstream lists the holders of this mint' },
  upstream_error: { status: 502, meaning: 'the upstream sent a malformed or unexpected response' },
  rpc_error: {
    status: 502,
    meaning: 'the upstream refused the call: its error code is in `X-Rpc-Error-Code` and starts the message',
  },
  unhealthy: { status: 503, meaning: 'the gateway can not answer as it should; the message says why' },
  upstream_unavailable: { status: 503, meaning: 'no upstream can be reached, or all are rate-limiting the gateway' },
  stale: {
    status: 503,
    meaning:
      'the answer was last validated too long ago, or no upstream has reached the slot of an answer already served',
  },
  min_slot_not_reached: { status: 503, meaning: 'no upstream has reached the slot that the request asks for' },
  overloaded: {
    status: 503,
    meaning:
      'too many requests are in progress, of the caller or of all, or too many bytes of answers wait for their readers',
  },
  warming_up: { status: 503, meaning: 'the gateway has not read this from the cluster yet' },
  shutting_down: { status: 503, meaning: 'the gateway is shutting down' },
  upstream_timeout: { status: 504, meaning: 'the upstream did not answer in time' },
} as const;

export type ErrorCode = keyof typeof ERRORS;

export interface ErrorDetails {
  /** Only for `rpc_error`, whose status depends on the node's code. */
  readonly status?: number;
  /** The seconds of the `Retry-After` header. Default: 1 for a 503. */
  readonly retryAfter?: number | undefined;
  /** The node's JSON-RPC error code, for the `X-Rpc-Error-Code` header. */
  readonly rpcCode?: number | undefined;
  /** The methods of the `Allow` header of a 405. */
  readonly allow?: string;
  /** The id of the JSON-RPC call that failed, as JSON text: the error is then sent in JSON-RPC's form. */
  readonly jsonRpcId?: string;
  /** True for a fact about finalized history, which no later slot can change. */
  readonly final?: boolean;
  /** The internal cause. It is logged and never sent to the caller. */
  readonly cause?: unknown;
}

/** The only error that callers receive. Anything else that is thrown is a defect and becomes `internal_error`. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly retryAfter: number | undefined;
  readonly rpcCode: number | undefined;
  readonly allow: string | undefined;
  readonly jsonRpcId: string | undefined;
  readonly final: boolean;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.status = details.status ?? ERRORS[code].status;
    this.retryAfter = details.retryAfter ?? (this.status === 503 ? 1 : undefined);
    this.rpcCode = details.rpcCode;
    this.allow = details.allow;
    this.jsonRpcId = details.jsonRpcId;
    this.final = details.final ?? false;
  }

  /** Returns this error as the answer to a JSON-RPC call, whose id is JSON text. */
  forJsonRpc(jsonRpcId: string): GatewayError {
    const { code, message, status, retryAfter, rpcCode, cause } = this;
    return new GatewayError(code, message, { status, retryAfter, rpcCode, cause, jsonRpcId });
  }

  /** Returns the response body: exactly these two members. */
  toJSON(): { error: ErrorCode; message: string } {
    return { error: this.code, message: this.message };
  }

  static from(thrown: unknown): GatewayError {
    return thrown instanceof GatewayError
      ? thrown
      : new GatewayError('internal_error', 'internal error', { cause: thrown });
  }
}
