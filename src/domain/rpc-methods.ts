/** The JSON-RPC methods that a caller may name. No other can be expressed past the edge. */
export const READ_METHODS = [
  'getBalance',
  'getAccountInfo',
  'getMultipleAccounts',
  'getSlot',
  'getEpochInfo',
  'getHealth',
  'getVersion',
  'getClusterNodes',
  'getBlockProduction',
  'getRecentPerformanceSamples',
  'getRecentPrioritizationFees',
  'getTokenAccountsByOwner',
  'getTokenAccountBalance',
  'getTokenSupply',
  'getTokenLargestAccounts',
  'getBlock',
  'getBlockTime',
  'getBlockHeight',
  'getTransaction',
  'getSignaturesForAddress',
  'getLatestBlockhash',
] as const;

export type ReadMethod = (typeof READ_METHODS)[number];

/** Reads that only the gateway itself makes; a caller can't name them. */
export type InternalRpcMethod = 'getProgramAccounts' | 'getGenesisHash';

/** Everything that may be asked of a node. */
export type RpcMethod = ReadMethod | InternalRpcMethod;

const readMethods: ReadonlySet<unknown> = new Set(READ_METHODS);

export const isReadMethod = (name: unknown): name is ReadMethod => readMethods.has(name);
