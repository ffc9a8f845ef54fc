/** RPC error codes of Solana nodes that the gateway understands, by agave's names (rpc-client-api, custom_error.rs). */
export const RPC_ERROR_CODE = {
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /** Older than the node's ledger. */
  blockCleanedUp: -32001,
  blockNotAvailable: -32004,
  /** Behind the cluster; some providers use it for a rate limit. */
  nodeUnhealthy: -32005,
  /** Skipped, or lost when the node jumped to a snapshot. */
  slotSkipped: -32007,
  /** Skipped, or missing in long-term storage. */
  longTermStorageSlotSkipped: -32009,
  keyExcludedFromSecondaryIndex: -32010,
  /** The node has no transaction history. */
  transactionHistoryNotAvailable: -32011,
  scanError: -32012,
  /** The block is not completely stored yet. */
  blockStatusNotAvailableYet: -32014,
  /** Newer than the caller's `maxSupportedTransactionVersion`. */
  unsupportedTransactionVersion: -32015,
  minContextSlotNotReached: -32016,
  longTermStorageUnreachable: -32019,
  /** `before` or `until` is unknown. */
  filterTransactionNotFound: -32020,
  /** Not agave's: what Firedancer can't do in a method that it has. */
  firedancerLimit: -32065,
} as const;

/** Codes that say of a block what another says. */
const SYNONYMS: ReadonlyMap<number | undefined, number> = new Map([
  [RPC_ERROR_CODE.longTermStorageSlotSkipped, RPC_ERROR_CODE.slotSkipped],
  [RPC_ERROR_CODE.transactionHistoryNotAvailable, RPC_ERROR_CODE.blockCleanedUp],
  [RPC_ERROR_CODE.blockStatusNotAvailableYet, RPC_ERROR_CODE.blockNotAvailable],
]);

/** Returns the code that stands for all of the same meaning. */
export const meaningOfCode = (code: number | undefined): number | undefined => SYNONYMS.get(code) ?? code;
