import type { Slot } from '../../domain/slot.ts';

/** A refusal in a node's own words: what a JSON-RPC answer carries in place of a result. */
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

/** The text is no JSON, or an entry of it is no request that could be answered by itself. */
export const parseError = (): JsonRpcError => new JsonRpcError(-32700, 'Parse error');
/** JSON, but not a call; and base58 of data that is too long for it. */
export const invalidRequest = (message = 'Invalid request'): JsonRpcError => new JsonRpcError(-32600, message);
/** A defect of the node. */
export const internalError = (): JsonRpcError => new JsonRpcError(-32603, 'Internal error');
/** No method has this name, on this face of the node. */
export const methodNotFound = (): JsonRpcError => new JsonRpcError(-32601, 'Method not found');
/** The caller's mistake, in `message`. */
export const invalidParams = (message: string, data?: unknown): JsonRpcError => new JsonRpcError(-32602, message, data);

/** The node is so many slots behind the cluster. */
export const nodeUnhealthy = (numSlotsBehind: number): JsonRpcError =>
  new JsonRpcError(-32005, `Node is behind by ${numSlotsBehind} slots`, { numSlotsBehind });

/** The block was there once; it is older than what the node keeps. */
export const blockCleanedUp = (slot: Slot, firstAvailableSlot: Slot): JsonRpcError =>
  new JsonRpcError(
    -32001,
    `Block ${slot} cleaned up, does not exist on node. First available block: ${firstAvailableSlot}`,
  );

/** The transaction was tried before it was sent on, and failed. `data` is the outcome of the trial. */
export const preflightFailure = (reason: string, data: unknown): JsonRpcError =>
  new JsonRpcError(-32002, `Transaction simulation failed: ${reason}`, data);

/** Somebody who had to sign did not. */
export const signatureFailure = (): JsonRpcError =>
  new JsonRpcError(-32003, 'Transaction signature verification failure');

/** The slot is ahead of the commitment that was asked for. */
export const blockNotAvailable = (slot: Slot): JsonRpcError =>
  new JsonRpcError(-32004, `Block not available for slot ${slot}`);

/** The slot is final and has no block. */
export const slotSkipped = (slot: Slot): JsonRpcError =>
  new JsonRpcError(-32007, `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`);

/** As {@link slotSkipped}, of a slot that is older than what the node itself keeps. */
export const longTermSlotSkipped = (slot: Slot): JsonRpcError =>
  new JsonRpcError(-32009, `Slot ${slot} was skipped, or missing in long-term storage`);

/** The block is there, but not all about it yet. */
export const blockStatusNotAvailableYet = (slot: Slot): JsonRpcError =>
  new JsonRpcError(-32014, `Block status not yet available for slot ${slot}`);

/** The caller did not say that it knows transactions of this version. */
export const unsupportedVersion = (version: number): JsonRpcError =>
  new JsonRpcError(
    -32015,
    `Transaction version (${version}) is not supported by the requesting client. ` +
      'Please try the request again with the following configuration parameter: ' +
      `"maxSupportedTransactionVersion": ${version}`,
  );

/** The node has not come as far as the caller demands. */
export const minContextSlotNotReached = (contextSlot: Slot): JsonRpcError =>
  new JsonRpcError(-32016, 'Minimum context slot has not been reached', { contextSlot });

/** A page of history was to begin or end at a transaction that is not there. */
export const transactionNotFound = (signature: string): JsonRpcError =>
  new JsonRpcError(-32020, `Transaction ${signature} not found`);
