import type { Slot } from '../../shared/domain/slot.ts';

/** A refusal with the code and message of a Solana node: the `error` of a JSON-RPC response. */
export class JsonRpcError extends Error {
  override readonly name = 'JsonRpcError';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }

  toJSON(): { readonly code: number; readonly message: string; readonly data: unknown } {
    return { code: this.code, message: this.message, data: this.data };
  }
}

/** Creates the error for a text that is not JSON, or a batch with an entry that can't be answered. */
export const parseError = (): JsonRpcError => new JsonRpcError(-32700, 'Parse error');
/** Creates the error for JSON that is not a call, and for data too long for base58. */
export const invalidRequest = (message = 'Invalid request'): JsonRpcError => new JsonRpcError(-32600, message);
/** Creates the error for a method that doesn't exist over this transport. */
export const methodNotFound = (): JsonRpcError => new JsonRpcError(-32601, 'Method not found');
/** Creates the error for invalid parameters, described in `message`. */
export const invalidParams = (message: string, data?: unknown): JsonRpcError => new JsonRpcError(-32602, message, data);

/** Creates the error for one subscription too many, with the text of agave's `rpc_pubsub.rs`. */
export const subscriptionRefused = (): JsonRpcError =>
  new JsonRpcError(-32603, 'Internal Error: Subscription refused. Node subscription limit reached');

/** Creates the error for a node that has not reached the caller's `minContextSlot`. */
export const minContextSlotNotReached = (contextSlot: Slot): JsonRpcError =>
  new JsonRpcError(-32016, 'Minimum context slot has not been reached', { contextSlot });
