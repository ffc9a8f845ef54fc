/** The JSON-RPC methods that callers may use. Behind the HTTP layer no type can name another. */
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

/** The methods that only the gateway itself calls. */
export type InternalRpcMethod = 'getProgramAccounts' | 'getGenesisHash' | 'getAgGenesisCert';

/** All methods that the gateway sends to a node. */
export type RpcMethod = ReadMethod | InternalRpcMethod;

const readMethods: ReadonlySet<unknown> = new Set(READ_METHODS);

export const isReadMethod = (name: unknown): name is ReadMethod => readMethods.has(name);
