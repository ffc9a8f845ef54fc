/** The numbers of a Solana node's refusals that mean something to us, by the names that agave has for them. */
export const RPC_ERROR_CODE = {
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  /** Older than what the node keeps. */
  blockCleanedUp: -32001,
  blockNotAvailable: -32004,
  /** Behind the cluster; some providers say by it that one asks too much. */
  nodeUnhealthy: -32005,
  /** Or lost when the node jumped to a snapshot. */
  slotSkipped: -32007,
  /** Or missing in long-term storage. */
  longTermStorageSlotSkipped: -32009,
  keyExcludedFromSecondaryIndex: -32010,
  /** The node keeps none. */
  transactionHistoryNotAvailable: -32011,
  scanError: -32012,
  /** Not all about the block is written down. */
  blockStatusNotAvailableYet: -32014,
  /** Newer than the caller said to know. */
  unsupportedTransactionVersion: -32015,
  minContextSlotNotReached: -32016,
  longTermStorageUnreachable: -32019,
  /** `before` or `until` is not known. */
  filterTransactionNotFound: -32020,
} as const;
