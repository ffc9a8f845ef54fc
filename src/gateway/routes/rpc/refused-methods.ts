import { isReadMethod, type RpcProfile } from '../../../shared/domain/rpc-methods.ts';

/** The methods that a profile lacks, by what a caller can use in their place. */
const ALTERNATIVES: readonly (readonly [alternative: string, ...methods: readonly string[]])[] = [
  [
    'slotgate sends nothing: give your client a second connection for that',
    'sendTransaction',
    'simulateTransaction',
    'requestAirdrop',
    'sendBundle',
    'simulateBundle',
    'getTipAccounts',
    'getBundleStatuses',
    'getInflightBundleStatuses',
  ],
  [
    'slotgate scans no programs for callers: GET /api/v1/token/MINT/holders lists the holders of a mint, and /portfolio and /token-accounts what an address has; for other programs give your client a second connection',
    'getProgramAccounts',
    'getProgramAccountsV2',
  ],
  [
    'slotgate has no index of assets: GET /api/v1/address/ADDRESS/portfolio lists what an address has, and /api/v1/token/MINT describes a token',
    'getAsset',
    'getAssetBatch',
    'getAssetProof',
    'getAssetsByOwner',
    'getAssetsByGroup',
    'getTokenAccounts',
    'searchAssets',
  ],
  [
    'nodes have this method no longer: use getLatestBlockhash, and isBlockhashValid',
    'getRecentBlockhash',
    'getFeeCalculatorForBlockhash',
    'getFees',
  ],
  ['nodes have this method no longer: use getAccountInfo of the stake account', 'getStakeActivation'],
  ['nodes have this method no longer: use getBlocks', 'getConfirmedBlocks', 'getConfirmedBlocksWithLimit'],
  ['nodes have this method no longer: use getBlock', 'getConfirmedBlock'],
  ['nodes have this method no longer: use getTransaction', 'getConfirmedTransaction'],
  ['nodes have this method no longer: use getSignaturesForAddress', 'getConfirmedSignaturesForAddress2'],
  ['use getSlotLeaders or getBlockProduction, or a second connection', 'getLeaderSchedule'],
  ['use getTokenLargestAccounts or GET /api/v1/token/MINT/holders for a token', 'getLargestAccounts'],
  ['use getInflationRate', 'getInflationGovernor'],
  [
    'slotgate stands for many nodes, and this is about the state of one: give your client a second connection for that',
    'getAgGenesisCert',
    'getBlockCommitment',
    'getHighestSnapshotSlot',
    'getMaxRetransmitSlot',
    'getMaxShredInsertSlot',
  ],
  ['use GET /api/v1/priority-fee', 'getPriorityFeeEstimate'],
  ['use GET /api/v1/address/ADDRESS/history?type=transfers', 'getTransactionsForAddress'],
];

const alternatives: ReadonlyMap<string, string> = new Map(
  ALTERNATIVES.flatMap(([alternative, ...methods]) => methods.map((method): [string, string] => [method, alternative])),
);

/** Says why a profile refuses a method, and what to use in its place. The method is quoted only if it is a known name. */
export function refusalOf(method: string, profile: RpcProfile): string {
  if (isReadMethod(method, 'standard'))
    return `${method} is a method of rpc.profile "standard", and this gateway has "${profile}": its operator can set it`;
  const alternative = alternatives.get(method);
  if (alternative !== undefined) return `${method}: ${alternative}`;
  return 'this method is not allowed, or not spelled as Solana RPC spells it; GET /api/v1/openapi.json lists those that are allowed';
}
