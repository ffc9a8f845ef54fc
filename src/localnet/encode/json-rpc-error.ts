import type { Slot } from '../../domain/slot.ts';

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
/** Creates the error for a defect of the node. */
export const internalError = (): JsonRpcError => new JsonRpcError(-32603, 'Internal error');
/** Creates the error for a method that doesn't exist over this transport. */
export const methodNotFound = (): JsonRpcError => new JsonRpcError(-32601, 'Method not found');
/** Creates the error for invalid parameters, described in `message`. */
export const invalidParams = (message: string, data?: unknown): JsonRpcError => new JsonRpcError(-32602, message, data);

/** Creates the error for one subscription too many, with the text of agave's `rpc_pubsub.rs`. */
export const subscriptionRefused = (): JsonRpcError =>
  new JsonRpcError(-32603, 'Internal Error: Subscription refused. Node subscription limit reached');

/** Creates the error of a node that lags the cluster by a number of slots. */
export const nodeUnhealthy = (numSlotsBehind: number): JsonRpcError =>
  new JsonRpcError(-32005, `Node is behind by ${numSlotsBehind} slots`, { numSlotsBehind });

/** Creates the error for a block that is older than the node's history. */
export const blockCleanedUp = (slot: Slot, firstAvailableSlot: Slot): JsonRpcError =>
  new JsonRpcError(
    -32001,
    `Block ${slot} cleaned up, does not exist on node. First available block: ${firstAvailableSlot}`,
  );

/**
 * Creates the error for a transaction that failed in the simulation before it was sent. `data` is the simulation's
 * result.
 */
export const preflightFailure = (reason: string, data: unknown): JsonRpcError =>
  new JsonRpcError(-32002, `Transaction simulation failed: ${reason}`, data);

/** Creates the error for a transaction without a required signature. */
export const signatureFailure = (): JsonRpcError =>
  new JsonRpcError(-32003, 'Transaction signature verification failure');

/** Creates the error for a slot ahead of the requested commitment. */
export const blockNotAvailable = (slot: Slot): JsonRpcError =>
  new JsonRpcError(-32004, `Block not available for slot ${slot}`);

/** Creates the error for a final slot without a block. */
export const slotSkipped = (slot: Slot): JsonRpcError =>
  new JsonRpcError(-32007, `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`);

/** Creates the error for a skipped slot that is older than the node's history. */
export const longTermSlotSkipped = (slot: Slot): JsonRpcError =>
  new JsonRpcError(-32009, `Slot ${slot} was skipped, or missing in long-term storage`);

/** Creates the error for a block whose transaction statuses are not written yet. */
export const blockStatusNotAvailableYet = (slot: Slot): JsonRpcError =>
  new JsonRpcError(-32014, `Block status not yet available for slot ${slot}`);

/** Creates the error for a transaction version that the caller has not declared support for. */
export const unsupportedVersion = (version: number): JsonRpcError =>
  new JsonRpcError(
    -32015,
    `Transaction version (${version}) is not supported by the requesting client. ` +
      'Please try the request again with the following configuration parameter: ' +
      `"maxSupportedTransactionVersion": ${version}`,
  );

/** Creates the error for a node that has not reached the caller's `minContextSlot`. */
export const minContextSlotNotReached = (contextSlot: Slot): JsonRpcError =>
  new JsonRpcError(-32016, 'Minimum context slot has not been reached', { contextSlot });

/** Creates the error for a page of history bounded by an unknown transaction. */
export const transactionNotFound = (signature: string): JsonRpcError =>
  new JsonRpcError(-32020, `Transaction ${signature} not found`);
