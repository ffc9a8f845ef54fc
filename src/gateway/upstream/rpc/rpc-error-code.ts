/**
 * Cause of a failed call, which decides what to do next. `caller`: the request is wrong. `fact`: a true answer about
 * the chain. `not-yet`: the node has not reached it. `node-limit`: the node never can. `rate-limit`: the node wants
 * fewer requests. `transport`: no valid response came. For the last four another node may do better.
 */
export type RpcFault = 'caller' | 'fact' | 'not-yet' | 'node-limit' | 'rate-limit' | 'transport';

/**
 * The RPC errors of Solana nodes that the gateway understands, by agave's names (rpc-client-api, custom_error.rs), each with its
 * code, fault and HTTP status.
 */
const RPC_ERRORS = {
  invalidRequest: [-32600, 'caller', 400],
  methodNotFound: [-32601, 'node-limit', 502],
  invalidParams: [-32602, 'caller', 400],
  internalError: [-32603, 'transport', 502],
  /** Older than the node's ledger: another node may keep it. */
  blockCleanedUp: [-32001, 'node-limit', 404],
  blockNotAvailable: [-32004, 'not-yet', 404],
  /** Behind the cluster; some providers use it for a rate limit. */
  nodeUnhealthy: [-32005, 'not-yet', 503],
  /** Skipped, or lost when the node jumped to a snapshot: another node may have it. */
  slotSkipped: [-32007, 'node-limit', 404],
  /** Skipped, or missing in long-term storage. */
  longTermStorageSlotSkipped: [-32009, 'fact', 404],
  keyExcludedFromSecondaryIndex: [-32010, 'node-limit', 502],
  transactionHistoryNotAvailable: [-32011, 'node-limit', 404],
  scanError: [-32012, 'node-limit', 502],
  /** The block is not completely stored yet. */
  blockStatusNotAvailableYet: [-32014, 'not-yet', 404],
  /** Newer than the caller's `maxSupportedTransactionVersion`. */
  unsupportedTransactionVersion: [-32015, 'caller', 400],
  minContextSlotNotReached: [-32016, 'not-yet', 503],
  longTermStorageUnreachable: [-32019, 'node-limit', 502],
  /** `before` or `until` is unknown. */
  filterTransactionNotFound: [-32020, 'fact', 404],
  /** Not agave's: what Firedancer can't do in a method that it has. */
  firedancerLimit: [-32065, 'node-limit', 502],
} as const satisfies Readonly<Record<string, readonly [code: number, fault: RpcFault, status: number]>>;

type RpcErrors = typeof RPC_ERRORS;

export const RPC_ERROR_CODE = Object.fromEntries(Object.entries(RPC_ERRORS).map(([name, [code]]) => [name, code])) as {
  readonly [Name in keyof RpcErrors]: RpcErrors[Name][0];
}; // one for each name

const ERRORS_BY_CODE: ReadonlyMap<number | undefined, { readonly fault: RpcFault; readonly status: number }> = new Map(
  Object.values(RPC_ERRORS).map(([code, fault, status]) => [code, { fault, status }]),
);

const UNKNOWN = { fault: 'transport', status: 502 } as const;

export const rpcErrorOf = (code: number | undefined) => ERRORS_BY_CODE.get(code) ?? UNKNOWN;

/** Codes that say of a block what another says. */
const SYNONYMS: ReadonlyMap<number | undefined, number> = new Map([
  [RPC_ERROR_CODE.longTermStorageSlotSkipped, RPC_ERROR_CODE.slotSkipped],
  [RPC_ERROR_CODE.transactionHistoryNotAvailable, RPC_ERROR_CODE.blockCleanedUp],
  [RPC_ERROR_CODE.blockStatusNotAvailableYet, RPC_ERROR_CODE.blockNotAvailable],
]);

export const meaningOfCode = (code: number | undefined): number | undefined => SYNONYMS.get(code) ?? code;
