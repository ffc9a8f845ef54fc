/** The addresses of Solana's own programs and sysvars. No other file of code spells one of them out. */
export const SYSTEM_PROGRAM = '11111111111111111111111111111111';
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
/** Both token programs. */
export const TOKEN_PROGRAM_IDS: readonly string[] = [TOKEN_PROGRAM, TOKEN_2022_PROGRAM];
export const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
export const STAKE_PROGRAM = 'Stake11111111111111111111111111111111111111';
export const VOTE_PROGRAM = 'Vote111111111111111111111111111111111111111';
export const COMPUTE_BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111';
export const LOOKUP_TABLE_PROGRAM = 'AddressLookupTab1e1111111111111111111111111';
export const UPGRADEABLE_LOADER = 'BPFLoaderUpgradeab1e11111111111111111111111';
export const LOADER_V4 = 'LoaderV411111111111111111111111111111111111';
export const LOADER_V2 = 'BPFLoader2111111111111111111111111111111111';
export const LOADER_V1 = 'BPFLoader1111111111111111111111111111111111';
export const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
export const MEMO_V1_PROGRAM = 'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo';
export const METADATA_PROGRAM = 'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s';

/** The cluster's time; it changes in every slot. */
export const CLOCK_SYSVAR = 'SysvarC1ock11111111111111111111111111111111';
export const RENT_SYSVAR = 'SysvarRent111111111111111111111111111111111';
export const STAKE_HISTORY_SYSVAR = 'SysvarStakeHistory1111111111111111111111111';
/** An account that the stake program no longer reads. */
export const STAKE_CONFIG = 'StakeConfig11111111111111111111111111111111';
export const RECENT_BLOCKHASHES_SYSVAR = 'SysvarRecentB1ockHashes11111111111111111111';
export const SLOT_HASHES_SYSVAR = 'SysvarS1otHashes111111111111111111111111111';
