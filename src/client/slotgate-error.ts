import { ERRORS, type ErrorCode } from '../shared/domain/gateway-error.ts';

/**
 * The reason of a failure: the gateway's error code, or one of three of the client. `network`: no complete response was
 * received. `timeout`: none was received in time. `unreadable`: the response is not one of a gateway.
 */
export type FailureCode = ErrorCode | 'network' | 'timeout' | 'unreadable';

export interface FailureDetails {
  readonly status?: number | null;
  /** The time to wait by the answer of the gateway, in milliseconds. */
  readonly retryAfterMs?: number | null;
  readonly requestId?: string | null;
  /** The JSON-RPC code of a node, with `rpc_error`. */
  readonly rpcCode?: number | null;
  /** The genesis hash of the cluster, which a gateway names also while it is `unhealthy`. */
  readonly cluster?: string | null;
  /** The address of what the gateway says about the error, unless it serves no pages. */
  readonly help?: string | null;
  readonly cause?: unknown;
}

/** Thrown if the gateway refuses a request or can't be reached. A failed verification throws ReceiptError instead. */
export class SlotgateError extends Error {
  override readonly name = 'SlotgateError';
  readonly code: FailureCode;
  readonly status: number | null;
  readonly retryAfterMs: number | null;
  readonly requestId: string | null;
  readonly rpcCode: number | null;
  readonly cluster: string | null;
  readonly help: string | null;

  constructor(code: FailureCode, message: string, details: FailureDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.status = details.status ?? null;
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.requestId = details.requestId ?? null;
    this.rpcCode = details.rpcCode ?? null;
    this.cluster = details.cluster ?? null;
    this.help = details.help ?? null;
  }
}

/** Returns true for the error codes of the gateway. */
export const isErrorCode = (text: unknown): text is ErrorCode =>
  typeof text === 'string' && Object.hasOwn(ERRORS, text);
