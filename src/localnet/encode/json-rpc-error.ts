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

export const parseError = (): JsonRpcError => new JsonRpcError(-32700, 'Parse error');
/** For JSON that is not a call, and for data too long for base58. */
export const invalidRequest = (message = 'Invalid request'): JsonRpcError => new JsonRpcError(-32600, message);
export const methodNotFound = (): JsonRpcError => new JsonRpcError(-32601, 'Method not found');
export const invalidParams = (message: string, data?: unknown): JsonRpcError => new JsonRpcError(-32602, message, data);

/** For one subscription too many, with the text of agave's `rpc_pubsub.rs`. */
export const subscriptionRefused = (): JsonRpcError =>
  new JsonRpcError(-32603, 'Internal Error: Subscription refused. Node subscription limit reached');

export const minContextSlotNotReached = (contextSlot: Slot): JsonRpcError =>
  new JsonRpcError(-32016, 'Minimum context slot has not been reached', { contextSlot });
