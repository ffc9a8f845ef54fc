import { ERRORS, type ErrorCode } from '../domain/gateway-error.ts';

/**
 * Why a request came to nothing: the gateway's own code, or one of three that arise on the way. `network`: no whole
 * answer came. `timeout`: none came in time. `unreadable`: what came is not what a gateway says.
 */
export type FailureCode = ErrorCode | 'network' | 'timeout' | 'unreadable';

export interface FailureDetails {
  /** HTTP status, null when there was no answer. */
  readonly status?: number | null;
  /** How long the gateway asks to wait. */
  readonly retryAfterMs?: number | null;
  /** By which the gateway's log names the request. */
  readonly requestId?: string | null;
  /** The JSON-RPC code of a node, with `rpc_error`. */
  readonly rpcCode?: number | null;
  readonly cause?: unknown;
}

/** Thrown when the gateway says no, or can't be heard. What it said but could not prove is a ReceiptError. */
export class SlotgateError extends Error {
  override readonly name = 'SlotgateError';
  readonly code: FailureCode;
  readonly status: number | null;
  readonly retryAfterMs: number | null;
  readonly requestId: string | null;
  readonly rpcCode: number | null;

  constructor(code: FailureCode, message: string, details: FailureDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.status = details.status ?? null;
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.requestId = details.requestId ?? null;
    this.rpcCode = details.rpcCode ?? null;
  }
}

export const isErrorCode = (text: unknown): text is ErrorCode =>
  typeof text === 'string' && Object.hasOwn(ERRORS, text);
