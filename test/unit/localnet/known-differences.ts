/** A request that the embedded cluster answers differently than the node, and the reason. */
interface KnownDifference {
  readonly request: string;
  /** Path, type at the node, type here. */
  readonly differences: readonly string[];
  readonly reason: string;
}

const NO_VOTES = 'a cluster of one validator has no votes in its blocks';
const NO_EARLIER_BLOCKS = 'a node that starts at a later slot, as from a snapshot, has no block before it';

/** All known differences: any other fails the test, and so does a listed one that no longer exists. */
export const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  {
    request: 'getAccountInfo ["<vote>",{"encoding":"jsonParsed","commitment":"confirmed"}]',
    differences: [
      '.result.value.data: {parsed program space} -> list',
      '.result.value.data.parsed: {info type} -> nothing',
      '.result.value.data.program: string -> nothing',
      '.result.value.data.space: integer -> nothing',
      '.result.value.data[]: nothing -> string',
    ],
    reason: `${NO_VOTES}, so a vote account is encoded as bytes`,
  },
  {
    request:
      'getAccountInfo ["SysvarStakeHistory1111111111111111111111111",{"encoding":"jsonParsed","commitment":"confirmed"}]',
    differences: ['.result.value.data.parsed.info[]: {epoch stakeHistory} -> nothing'],
    reason: 'stake earns nothing here and has no history',
  },
  {
    request:
      'getAccountInfo ["Feature111111111111111111111111111111111111",{"encoding":"jsonParsed","commitment":"confirmed"}]',
    differences: [
      '.result.value: {data executable lamports owner rentEpoch space} -> null',
      '.result.value.data: {parsed program space} -> nothing',
      '.result.value.executable: boolean -> nothing',
      '.result.value.lamports: integer -> nothing',
      '.result.value.owner: string -> nothing',
      '.result.value.rentEpoch: integer -> nothing',
      '.result.value.space: integer -> nothing',
    ],
    reason: 'the machine lacks the program that feature gates belong to',
  },
  {
    request: 'getClusterNodes []',
    differences: [
      '.result[].gossip: string -> null',
      '.result[].serveRepair: string -> null',
      '.result[].tpuForwardsQuic: string -> null',
      '.result[].tpuQuic: string -> null',
      '.result[].tpuVote: string -> null',
      '.result[].tvu: string -> null',
    ],
    reason: 'no other node could reach this one',
  },
  {
    request:
      'getBlock [839,{"transactionDetails":"full","encoding":"jsonParsed","maxSupportedTransactionVersion":0,"rewards":true,"commitment":"confirmed"}]',
    differences: [
      '.result.transactions[].transaction.message.instructions[].parsed.info: {account mint source systemProgram tokenProgram wallet} | {authority destination mint source tokenAmount} | {towerSync voteAccount voteAuthority} -> {account mint source systemProgram tokenProgram wallet} | {authority destination mint source tokenAmount}',
      '.result.transactions[].transaction.message.instructions[].parsed.info.towerSync: {blockId hash lockouts root timestamp} -> nothing',
      '.result.transactions[].transaction.message.instructions[].parsed.info.voteAccount: string -> nothing',
      '.result.transactions[].transaction.message.instructions[].parsed.info.voteAuthority: string -> nothing',
    ],
    reason: NO_VOTES,
  },
  {
    request:
      'getBlock [898,{"transactionDetails":"accounts","maxSupportedTransactionVersion":0,"commitment":"confirmed"}]',
    differences: ['.result.transactions[].version: integer | string -> integer'],
    reason: NO_VOTES,
  },
  {
    request: 'getBlock [0,{"transactionDetails":"none"}]',
    differences: [
      '.: {jsonrpc result id} -> {jsonrpc error id}',
      '.result: {blockHeight blockTime blockhash parentSlot previousBlockhash rewards} -> nothing',
      '.error: nothing -> {code message}',
    ],
    reason: NO_EARLIER_BLOCKS,
  },
  {
    request: 'getBlockTime [0]',
    differences: [
      '.: {jsonrpc result id} -> {jsonrpc error id}',
      '.result: integer -> nothing',
      '.error: nothing -> {code message}',
    ],
    reason: NO_EARLIER_BLOCKS,
  },
];
