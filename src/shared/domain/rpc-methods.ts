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

/** The read methods that clients call by themselves: callers may use them where `rpc.profile` is `standard`. */
export const STANDARD_METHODS = [
  'getSignatureStatuses',
  'getMinimumBalanceForRentExemption',
  'getGenesisHash',
  'isBlockhashValid',
  'getFeeForMessage',
  'getTransactionCount',
  'getFirstAvailableBlock',
  'minimumLedgerSlot',
  'getBlocks',
  'getBlocksWithLimit',
  'getSlotLeader',
  'getSlotLeaders',
  'getIdentity',
  'getEpochSchedule',
  'getInflationRate',
  'getInflationReward',
  'getStakeMinimumDelegation',
  'getTokenAccountsByDelegate',
  'getVoteAccounts',
  'getSupply',
] as const;

/** The methods of the setting `rpc.profile`: `strict` has {@link READ_METHODS} alone. */
export const RPC_PROFILES = ['strict', 'standard'] as const;

export type RpcProfile = (typeof RPC_PROFILES)[number];

/** All methods that callers may use in any profile. */
export const ALL_READ_METHODS = [...READ_METHODS, ...STANDARD_METHODS] as const;

export type ReadMethod = (typeof ALL_READ_METHODS)[number];

/** The methods that only the gateway itself calls. */
export type InternalRpcMethod = 'getProgramAccounts' | 'getAgGenesisCert';

/** All methods that the gateway sends to a node. */
export type RpcMethod = ReadMethod | InternalRpcMethod;

const METHODS: Readonly<Record<RpcProfile, ReadonlySet<unknown>>> = {
  strict: new Set(READ_METHODS),
  standard: new Set(ALL_READ_METHODS),
};

export const isReadMethod = (name: unknown, profile: RpcProfile): name is ReadMethod => METHODS[profile].has(name);
