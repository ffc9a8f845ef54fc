import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  LOADER_V1,
  LOADER_V2,
  LOADER_V4,
  LOOKUP_TABLE_PROGRAM,
  MEMO_PROGRAM,
  MEMO_V1_PROGRAM,
  METADATA_PROGRAM,
  STAKE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  UPGRADEABLE_LOADER,
  VOTE_PROGRAM,
} from '../../domain/well-known-addresses.ts';

/**
 * The role of a program in a transaction: `core` programs are Solana's own; `helper` programs are never its subject
 * (logs, guards, price feeds); callers of `exchange` programs trade; `orders` programs trade for whoever left an order.
 */
export type ProgramRole = 'core' | 'helper' | 'exchange' | 'orders' | 'nft' | 'other';

export interface KnownProgram {
  /** The makers' spelling: `Jupiter`. */
  readonly name: string;
  /** Helius' name, if it has one: `JUPITER`. */
  readonly source: string;
  readonly role: ProgramRole;
}

type ProgramRow = readonly [id: string, name: string, source: string];

/**
 * Names from https://solana.com/docs/core/programs and https://solana.com/docs/core/programs/precompiles, the rest from
 * https://www.solana-program.com
 */
const CORE_PROGRAMS: readonly ProgramRow[] = [
  [SYSTEM_PROGRAM, 'System', 'SYSTEM_PROGRAM'],
  [TOKEN_PROGRAM, 'Token', 'SPL_TOKEN'],
  [TOKEN_2022_PROGRAM, 'Token-2022', 'SPL_TOKEN'],
  [ASSOCIATED_TOKEN_PROGRAM, 'Associated Token Account', 'ASSOCIATED_TOKEN_PROGRAM'],
  [STAKE_PROGRAM, 'Stake', 'STAKE_PROGRAM'],
  [VOTE_PROGRAM, 'Vote', 'VOTE_PROGRAM'],
  [COMPUTE_BUDGET_PROGRAM, 'Compute Budget', 'COMPUTE_BUDGET_PROGRAM'],
  [UPGRADEABLE_LOADER, 'program loader', 'BPF_UPGRADEABLE_LOADER'],
  [LOADER_V4, 'program loader', 'LOADER_V4'],
  [LOADER_V2, 'program loader', 'BPF_LOADER'],
  [LOADER_V1, 'program loader', 'BPF_LOADER'],
  [LOOKUP_TABLE_PROGRAM, 'Address Lookup Table', 'ADDRESS_LOOKUP_TABLE_PROGRAM'],
  ['Config1111111111111111111111111111111111111', 'Config', 'CONFIG_PROGRAM'],
  ['Feature111111111111111111111111111111111111', 'Feature', 'FEATURE_PROGRAM'],
  [MEMO_PROGRAM, 'Memo', 'MEMO_PROGRAM'],
  [MEMO_V1_PROGRAM, 'Memo', 'MEMO_PROGRAM'],
  ['Ed25519SigVerify111111111111111111111111111', 'signature check', 'ED25519_PROGRAM'],
  ['KeccakSecp256k11111111111111111111111111111', 'signature check', 'SECP256K1_PROGRAM'],
  ['Secp256r1SigVerify1111111111111111111111111', 'signature check', 'SECP256R1_PROGRAM'],
  ['ZkE1Gama1Proof11111111111111111111111111111', 'ZK ElGamal Proof', 'ZK_ELGAMAL_PROOF_PROGRAM'],
];

/**
 * Names from https://github.com/solana-foundation/explorer/blob/master/app/utils/programs.ts and from the makers' own
 * pages.
 */
const HELPER_PROGRAMS: readonly ProgramRow[] = [
  ['noopb9bkMVfRPU8AsbpTUg8AQkHtKwMYZiFUjNRtMmV', 'Noop', 'NOOP'],
  ['L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95', 'Lighthouse', 'LIGHTHOUSE'],
  ['cmtDvXumGCrqC1Age74AVPhSRVXJMd8PJS91L8KbNCK', 'State Compression', 'ACCOUNT_COMPRESSION'],
  ['compr6CUsB5m2jS4Y3831ztGSTnDpnKJTKS95d64XVq', 'ZK Account Compression', 'ACCOUNT_COMPRESSION'],
  ['SySTEM1eSU2p4BGQfQpimFEWWSC1XDFeun3Nqzz3rT7', 'Light System', 'LIGHT_SYSTEM_PROGRAM'],
  ['pfeeUxB6jkeY1Hxd7CsFCAjcbHA9rWtchMGdZ6VojVZ', 'Pump.fun fees', 'PUMP_FUN'],
  ['HEvSKofvBgfaexv23kMabbYqxasxU3mQ4ibBMEmJWHny', 'Chainlink', 'CHAINLINK'],
  ['cjg3oHmg9uuPsP8D6g29NWvhySJkdYdAo9D25PRbKXJ', 'Chainlink', 'CHAINLINK'],
  ['gSbePebfvPy7tRqimPoVecS2UsBvYv46ynrzWocc92s', 'Pyth', 'PYTH'],
  ['FsJ3A3u2vn5cTVofAjvy6y5kwABJAqYWpe4975bi2epH', 'Pyth', 'PYTH'],
  ['rec5EKMGg6MxZYaMdyBfgwp4d5rB9T1VQH5pJv5LtFJ', 'Pyth', 'PYTH'],
  ['pythWSnswVUd12oZpeFP8e9CVaEqJg25g1Vtc2biRsT', 'Pyth', 'PYTH'],
  ['SBondMDrcV3K4kxZR1HNVT7osZxAHVHgYXL5Ze1oMUv', 'Switchboard', 'SWITCHBOARD'],
  ['T1pyyaTNZsKv2WcRAB8oVnk93mLJw2XzjtVYqCsaHqt', 'Jito tips', 'JITO'],
];

/**
 * Ids from the exchanges' own SDKs; `source` as in `Source` of https://github.com/helius-labs/helius-sdk, if it is
 * there.
 */
const EXCHANGE_PROGRAMS: readonly ProgramRow[] = [
  ['JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4', 'Jupiter', 'JUPITER'],
  ['JUP4Fb2cqiRUcaTHdrPC8h2gNsA2ETXiPDD33WcGuJB', 'Jupiter', 'JUPITER'],
  ['JUP2jxvXaqu7NQY1GmNF4m1vodw12LVXYxbFL2uJvfo', 'Jupiter', 'JUPITER'],
  ['675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8', 'Raydium', 'RAYDIUM'],
  ['CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK', 'Raydium', 'RAYDIUM'],
  ['CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C', 'Raydium', 'RAYDIUM'],
  ['routeUGWgWzqBWFcrCfv8tritsqukccJPu3q5GPP3xS', 'Raydium', 'RAYDIUM'],
  ['LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj', 'Raydium LaunchLab', 'RAYDIUM'],
  ['27haf8L6oxUeXrHrgEgsexjSY5hbVUWEmvv9Nyxg8vQv', 'Raydium', 'RAYDIUM'],
  ['whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc', 'Orca', 'ORCA'],
  ['9W959DqEETiGZocYWCQPaJ6sBmUzgfxXfqGeTEdp3aQP', 'Orca', 'ORCA'],
  ['DjVE6JNiYqPL2QXyCUUh8rNjHrbz9hXHNYt99MQ59qw1', 'Orca', 'ORCA'],
  ['LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo', 'Meteora', 'METEORA'],
  ['cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG', 'Meteora', 'METEORA'],
  ['Eo7WjKq67rjJQSZxS6z3YkapzY3eMj6Xy8X5EQVn5UaB', 'Meteora', 'METEORA'],
  ['dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN', 'Meteora', 'METEORA'],
  ['6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P', 'Pump.fun', 'PUMP_FUN'],
  ['pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA', 'PumpSwap', 'PUMP_AMM'],
  ['PhoeNiXZ8ByJGLkxNfZRnkUfjvmuYqLR89jjFHGqdXY', 'Phoenix', 'PHOENIX'],
  ['opnb2LAfJYbRMAHHvqjCwQxanZn7ReEHp1k81EohpZb', 'OpenBook', 'OPENBOOK'],
  ['srmqPvymJeFKQ4zGQed1GFppgkRHL9kaELCbyksJtPX', 'OpenBook', 'OPENBOOK'],
  ['9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin', 'Serum', 'SERUM'],
  ['2wT8Yq49kHgDzXuPxZSaeLaH1qbmGXtEyPy64bL7aD3c', 'Lifinity', 'LIFINITY'],
  ['EewxydAPCCVuNEyrVN68PuSYdQ7wKn27V9Gjeoi8dy3S', 'Lifinity', 'LIFINITY'],
  ['HyaB3W9q6XdA5xwpU4XnSZV94htfmbmqJXZcEbRaJutt', 'Invariant', 'INVARIANT'],
  ['SSwpkEEcbUqx4vtoEByFjSkhKdCT862DNVb52nZg1UZ', 'Saber', 'SABER'],
  ['MERLuDFBMmsHnsBPZw2sDQZHvXFMwp8EdjudcU2HKky', 'Mercurial', 'MERCURIAL'],
  ['SoLFiHG9TfgtdUXUjWAxi3LtvYuFyDLVhBWxdMZxyCe', 'SolFi', 'SOLFI'],
  ['ZERor4xhbUycZ6gb9ntrhqscUcZmAbQDjEAtCf4hbZY', 'ZeroFi', 'ZEROFI'],
  ['9H6tua7jkLhdm3w8BvgpTn5LZNU7g4ZynDmCiNN3q6Rp', 'HumidiFi', 'HUMIDIFI'],
  ['TessVdML9pBGgG9yGks7o4HewRaXVAMuoVj4x83GLQH', 'Tessera', 'TESSERA'],
  ['goonERTdGsjnkZqWuVjs73BZ3Pb9qoCUdBUL17BnS5j', 'GoonFi', 'GOONFI'],
  ['obriQD1zbpyLz95G5n7nJe6a4DPjpFwa5XYPoNm113y', 'Obric', 'OBRIC'],
  ['swapNyd8XiQwJ6ianp9snpu4brUqFxadzvHebnAXjJZ', 'Stabble', 'STABBLE'],
  ['HpNfyc2Saw7RKkQd8nEL4khUcuPhQ7WwY1B2qjx8jxFq', 'PancakeSwap', 'PANCAKE_SWAP'],
  ['HEAVENoP2qxoeuF8Dj2oT1GHEnu49U5mJYkdeC8BAX2o', 'Heaven', 'HEAVEN'],
  ['Dooar9JkhdZ7J3LHN3A7YCuoGRUggXhQaG4kijfLGU2j', 'STEPN', 'STEPN'],
  ['MoonCVVNZFSYkqNXP6bxHLPL6QQJiMagDL3qcqUQTrG', 'Moonshot', 'MOONSHOT'],
  ['6m2CDdhRgxpH4WjvdzxAYbGxwdGUz5MziiL5jek2kBma', 'OKX', 'OKX_DEX_ROUTER'],
  ['BSfD6SHZigAfDWSjzD5Q41jw8LmKwtmjskPH9XW1mrRW', 'Photon', 'PHOTON'],
  ['AxiomfHaWDemCFBLBayqnEnNwE6b7B2Qz3UmzMpgbMG6', 'Axiom', 'AXIOM'],
  ['b1oomGGqPKGD6errbyfbVMBuzSC8WtAAYo8MwNafWW1', 'Bloom', 'BLOOM'],
  ['DF1ow4tspfHX9JwWJsAb9epbkA8hmpSEAtxXy1V27QBH', 'DFlow', 'DFLOW'],
  ['SwaPpA9LAaLfeLi3a68M4DjnLqgtticKg6CnyNwgAC8', 'Token Swap', 'TOKEN_SWAP'],
];

/** https://dev.jup.ag */
const ORDER_PROGRAMS: readonly ProgramRow[] = [
  ['DCA265Vj8a9CEuX1eb1LWRnDT7uK6q1xMipnNyatn23M', 'Jupiter DCA', 'JUPITER'],
  ['jupoNjAxXgZ4rjzxzPMP4oxduvQsQtZzyknqvzYNrNu', 'Jupiter Limit Order', 'JUPITER'],
  ['j1o2qRpjcyUwEvwtcfhEQefh773ZgjxcVRry7LDqg5X', 'Jupiter Limit Order', 'JUPITER'],
];

const NFT_PROGRAMS: readonly ProgramRow[] = [
  ['M2mx93ekt1fmXSVkTrUL9xVFHkmME8HTUi5Cyc5aF7K', 'Magic Eden', 'MAGIC_EDEN'],
  ['TSWAPaqyCSx2KABk68Shruf4rp7CxcNi8hAsbdwmHbN', 'Tensor', 'TENSOR'],
  ['TCMPhJdwDryooaGtiocG1u3xcYbRpiJzb283XfCZsDp', 'Tensor', 'TENSOR'],
  ['BGUMAp9Gq7iTEuizy4pqaxsTyUCBK68MDfK752saRPUY', 'Bubblegum', 'BUBBLEGUM'],
  [METADATA_PROGRAM, 'Token Metadata', 'METAPLEX'],
  ['auctxRXPeJoc4817jDhf4HbjnhEcr1cCXenosMhK5R8', 'Metaplex Auction', 'METAPLEX'],
  ['p1exdMJcjVao65QdewkaZRUnU6VPSXhus9n2GzWfh98', 'Metaplex', 'METAPLEX'],
  ['cndy3Z4yapfJBmL3ShUp5exZKqR3z33thTzeNMm2gRZ', 'Candy Machine', 'CANDY_MACHINE_V2'],
  ['cndyAnrLdpjq1Ssp1z8xxDsB8dxe7u4HL5Nxi2K5WXZ', 'Candy Machine', 'CANDY_MACHINE_V1'],
];

const OTHER_PROGRAMS: readonly ProgramRow[] = [
  ['jupeiUmn818Jg1ekPURTpr4mFo29p46vygyykFJ3wZC', 'Jupiter Lend', 'JUPITER'],
  ['jup3YeL8QhtSx1e253b2FDvsMNC87fDrgQZivbrndc9', 'Jupiter Lend', 'JUPITER'],
  ['jupr81YtYssSyPt8jbnGuiWon5f6x9TcDEFxYe3Bdzi', 'Jupiter Lend', 'JUPITER'],
  ['jupnw4B6Eqs7ft6rxpzYLJZYSnrpRgPcr589n5Kv4oc', 'Jupiter Lend', 'JUPITER'],
  ['PERPHjGBqRHArX4DySjwM6UJHiR3sWAatqfdBS2qQJu', 'Jupiter Perpetuals', 'JUPITER'],
  ['dRiftyHA39MWEi3m9aunc5MzRF1JYuBsbn6VPcn33UH', 'Drift', 'DRIFT'],
  ['KLend2g3cP87fffoy8q1mQqGKjrxjC8boSyAYavgmjD', 'Kamino', 'KAMINO_LEND'],
  ['MFv2hWf31Z9kbCa1snEPYctwafyhdvnV7FZnsebVacA', 'marginfi', 'MARGINFI'],
  ['So1endDq2YkqhipRh3WViPa8hdiSpxWy6z3Z6tMCpAo', 'Solend', 'SOLEND'],
  ['SPoo1Ku8WFXoNDMHPsrGSTSG1Y47rzgn41SLUNakuHy', 'Stake Pool', 'STAKE_POOL'],
  ['MarBmsSgKXdrN1egZf5sqe1TMai9K1rChYNDJgjq7aD', 'Marinade', 'MARINADE'],
  ['CrX7kMhLC3cSsXJdT7JDgqrRVWGnUpX3gfEfxxU2NVLi', 'Lido', 'SOLIDO'],
  ['GovER5Lthms3bLBqWub97yVrMmEogzX7xNjdXpPPCVZw', 'SPL Governance', 'SPL_GOVERNANCE'],
  ['SQDS4ep65T869zMMBKyuUq6aD6EgTu8psMjkvj52pCf', 'Squads', 'SQUADS'],
  ['namesLPneVptA9Z5rqUDD9tMTWEJwofgaYwp8cawRkX', 'Name Service', 'SPL_NAME_SERVICE'],
  ['cTokenmWW8bLPjZEBAUgYy3zKxQZW6VKi7bqNFEVv3m', 'ZK Compressed Token', 'COMPRESSED_TOKEN_PROGRAM'],
  ['SAGE2HAwep459SNq61LHvjxPk4pLPEJLoMETef7f7EE', 'Star Atlas', 'STAR_ATLAS'],
  ['worm2ZoG2kUd4vFXhvjh93UUH596ayRfgQ2MgjNMTth', 'Wormhole', 'WORMHOLE'],
  ['wormDTUJ6AWPNvk59vGQbDvGJmqbDTdgWgAqcLBCgUb', 'Wormhole', 'WORMHOLE'],
  ['oreV2ZymfyeXgNgBdqMkumTqqAprVqgBWQfoYkrtKWQ', 'ORE', 'ORE'],
];

const toEntries = (role: ProgramRole, table: readonly ProgramRow[]): [string, KnownProgram][] =>
  table.map(([id, name, source]) => [id, { name, source, role }]);

/** Programs that a transaction may name, by id. Every other program is named by its address: nothing is guessed. */
export const KNOWN_PROGRAMS: ReadonlyMap<string, KnownProgram> = new Map([
  ...toEntries('core', CORE_PROGRAMS),
  ...toEntries('helper', HELPER_PROGRAMS),
  ...toEntries('exchange', EXCHANGE_PROGRAMS),
  ...toEntries('orders', ORDER_PROGRAMS),
  ...toEntries('nft', NFT_PROGRAMS),
  ...toEntries('other', OTHER_PROGRAMS),
]);

/** Returns a program's name, or null: `programName` of an enhanced instruction. */
export const programName = (id: string): string | null => KNOWN_PROGRAMS.get(id)?.name ?? null;

/** Returns a program's role; `other` for a program that is not in the table. */
export const programRole = (id: string): ProgramRole => KNOWN_PROGRAMS.get(id)?.role ?? 'other';

/** Returns whether people trade through a program. */
export const isTradingProgram = (id: string): boolean => ['exchange', 'orders'].includes(programRole(id));
