/**
 * Every error that a caller can receive: its HTTP status, and whether the same request may succeed later (`later`, not
 * before `Retry-After` where that is sent) or has to be changed (`no`). The status of `rpc_error` depends on the node's
 * code. `shared/site/data/errors.tsv` has the words.
 */
export const ERRORS = {
  invalid_address: { status: 400, retry: 'no' },
  invalid_signature: { status: 400, retry: 'no' },
  invalid_slot: { status: 400, retry: 'no' },
  invalid_page: { status: 400, retry: 'no' },
  invalid_query: { status: 400, retry: 'no' },
  invalid_cursor: { status: 400, retry: 'no' },
  invalid_json: { status: 400, retry: 'no' },
  invalid_request: { status: 400, retry: 'no' },
  invalid_params: { status: 400, retry: 'no' },
  invalid_nonce: { status: 400, retry: 'no' },
  unclassifiable: { status: 400, retry: 'no' },
  invalid_api_key: { status: 401, retry: 'no' },
  invalid_stake_proof: { status: 401, retry: 'no' },
  rpc_method_not_allowed: { status: 403, retry: 'no' },
  not_found: { status: 404, retry: 'no' },
  slot_skipped: { status: 404, retry: 'no' },
  slot_not_kept: { status: 404, retry: 'no' },
  block_not_available: { status: 404, retry: 'later' },
  cursor_not_found: { status: 404, retry: 'no' },
  not_a_mint: { status: 404, retry: 'no' },
  unknown_key: { status: 404, retry: 'no' },
  route_not_found: { status: 404, retry: 'no' },
  method_not_allowed: { status: 405, retry: 'no' },
  block_pruned: { status: 410, retry: 'no' },
  key_revoked: { status: 410, retry: 'no' },
  payload_too_large: { status: 413, retry: 'no' },
  result_too_large: { status: 413, retry: 'no' },
  uri_too_long: { status: 414, retry: 'no' },
  unsupported_media_type: { status: 415, retry: 'no' },
  upgrade_required: { status: 426, retry: 'no' },
  rate_limited: { status: 429, retry: 'later' },
  headers_too_large: { status: 431, retry: 'no' },
  internal_error: { status: 500, retry: 'no' },
  holders_unavailable: { status: 503, retry: 'later' },
  upstream_error: { status: 502, retry: 'later' },
  rpc_error: { status: 502, retry: 'later' },
  unhealthy: { status: 503, retry: 'later' },
  upstream_unavailable: { status: 503, retry: 'later' },
  stale: { status: 503, retry: 'later' },
  min_slot_not_reached: { status: 503, retry: 'later' },
  no_agreement: { status: 503, retry: 'later' },
  overloaded: { status: 503, retry: 'later' },
  shutting_down: { status: 503, retry: 'later' },
  upstream_timeout: { status: 504, retry: 'later' },
} as const satisfies Readonly<Record<string, { readonly status: number; readonly retry: 'no' | 'later' }>>;

export type ErrorCode = keyof typeof ERRORS;

/** The last that a gateway knows of the network. */
export interface LastKnown {
  /** The genesis hash; undefined before a node has named it. */
  readonly cluster: string | undefined;
  /** The newest slot; 0 before the first. */
  readonly slot: number;
  readonly slotAgeMs: number;
}

export interface ErrorDetails {
  /** Only for `rpc_error`, whose status depends on the node's code. */
  readonly status?: number;
  /** The seconds of the `Retry-After` header. Default: 1 for a 503. */
  readonly retryAfter?: number | undefined;
  /** The node's JSON-RPC error code, for the `X-Rpc-Error-Code` header. */
  readonly rpcCode?: number | undefined;
  /** The members of the node's `data` as JSON text, for an error in JSON-RPC's form. */
  readonly rpcData?: string | undefined;
  /** The first later slot that could be answered, for the `X-Oldest-Slot` header. */
  readonly oldestSlot?: number | undefined;
  /** The methods of the `Allow` header of a 405. */
  readonly allow?: string;
  /** What an unhealthy gateway still knows of the network, for the headers of its answer. */
  readonly lastKnown?: LastKnown;
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
  readonly rpcData: string | undefined;
  readonly oldestSlot: number | undefined;
  readonly allow: string | undefined;
  readonly lastKnown: LastKnown | undefined;
  readonly jsonRpcId: string | undefined;
  readonly final: boolean;

  /** Captures no stack: a refusal would cost six times as much, and what is a defect has its own in `cause`. */
  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, { cause: details.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.code = code;
    this.status = details.status ?? ERRORS[code].status;
    this.retryAfter = details.retryAfter ?? (this.status === 503 ? 1 : undefined);
    this.rpcCode = details.rpcCode;
    this.rpcData = details.rpcData;
    this.oldestSlot = details.oldestSlot;
    this.allow = details.allow;
    this.lastKnown = details.lastKnown;
    this.jsonRpcId = details.jsonRpcId;
    this.final = details.final ?? false;
  }

  /** Returns this error as the answer to a JSON-RPC call, whose id is JSON text. */
  forJsonRpc(jsonRpcId: string): GatewayError {
    const { code, message, status, retryAfter, rpcCode, rpcData, cause } = this;
    return new GatewayError(code, message, { status, retryAfter, rpcCode, rpcData, cause, jsonRpcId });
  }

  toJSON(): { error: ErrorCode; message: string } {
    return { error: this.code, message: this.message };
  }

  static from(thrown: unknown): GatewayError {
    return thrown instanceof GatewayError
      ? thrown
      : new GatewayError('internal_error', 'internal error', { cause: thrown });
  }
}

/** Returns what gives null for an error that is expected, and throws any other. */
export const nullIf =
  (isExpected: (error: GatewayError) => boolean) =>
  (thrown: unknown): null => {
    if (thrown instanceof GatewayError && isExpected(thrown)) return null;
    throw thrown;
  };
