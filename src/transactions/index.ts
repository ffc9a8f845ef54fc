export { accountKindOf } from './accounts/account-kind.ts';
export { addressBytes } from './accounts/address-bytes.ts';
export { decodeClockTimestamp } from './accounts/clock-sysvar.ts';
export { findMetadataAddress, TOKEN_STANDARDS } from './accounts/metaplex-metadata-account.ts';
export { findAssociatedTokenAddress, isAssociatedTokenAccount } from './accounts/program-derived-address.ts';
export {
  decodePriceUpdate,
  findPriceFeedAddress,
  type PriceUpdate,
  type PythPrograms,
  usablePrice,
} from './accounts/pyth-price.ts';
export { parseSolDomain, resolveDomain, type SolDomain } from './accounts/sol-domain.ts';
export {
  decodeStakeAccount,
  NEVER,
  STAKE_ACCOUNT_BYTES,
  STAKE_STATES,
  type StakeDelegation,
  stakeStateIn,
  WITHDRAWER_OFFSET,
} from './accounts/stake-account.ts';
export type { TokenExtension } from './accounts/token-extensions.ts';
export {
  identityInMint,
  isNft,
  isSameName,
  nameInMetaplexAccount,
  nftOwnerOf,
  type TokenIdentity,
  tokenMetadataOf,
  tokenNameOf,
  tokenSymbolOf,
  withBoundedTexts,
} from './accounts/token-identity.ts';
export { type TokenLabel, tokenLabelText } from './accounts/token-label.ts';
export {
  decodeTokenProgramAccount,
  type Mint,
  MULTISIG_BYTES,
  TOKEN_AMOUNT_OFFSET,
  TOKEN_PROGRAMS,
  type TokenAccount,
  type TokenProgram,
  tokenProgramOf,
} from './accounts/token-program-accounts.ts';
export { type AmountScale, amountScaleOf, dependsOnClock, toTokenAmount } from './accounts/ui-amount.ts';
export { ACTION_KINDS, ACTION_ROLES, type ActionKind } from './analysis/action.ts';
export { AUTHORITY_CHANGE_KINDS } from './analysis/authority-changes.ts';
export { CONFIDENTIAL_TRANSFER_TYPES } from './analysis/confidential-transfers.ts';
export { type DescribedNetRow, netRowOf } from './analysis/net-row.ts';
export { NFT_STANDARDS } from './analysis/nft-asset.ts';
export { type IdlNames, parseTransaction } from './analysis/parse-transaction.ts';
export type { ParsedTransaction } from './analysis/parsed-transaction.ts';
export { TRANSFER_TYPES } from './analysis/transfer.ts';
export { type TransferRow, transferRowsOf } from './analysis/transfer-row.ts';
export { isAddress, isBase58Of } from './codec/base58.ts';
export { decodeKey, encodeKey } from './codec/base58-key.ts';
export { ByteReader } from './codec/byte-reader.ts';
export { type Decimal, divideRounded, parseDecimal, roundPrice } from './codec/decimal.ts';
export { formatDouble, formatUnits } from './codec/format-decimal.ts';
export { asArray, asInteger, asObject, type JsonObject } from './codec/json-fields.ts';
export { findExceededEnhancedBound } from './explain/enhanced-bounds.ts';
export { type EnhancedTransaction, enhanceTransaction } from './explain/enhanced-transaction.ts';
export { explainTransaction } from './explain/explain-transaction.ts';
export { describeFor, isParty } from './explain/perspective.ts';
export { ownerLabelsOf } from './programs/known-owners.ts';
export {
  fallbackTypeOf,
  isIncidentalProgram,
  isTradingProgram,
  KNOWN_PROGRAMS,
  programName,
} from './programs/known-programs.ts';
export { type IdlAccount, idlPlacesOf, MAX_IDL_BYTES, readIdlNames } from './programs/program-idl.ts';
export { JITO_TIP_ACCOUNTS } from './programs/tip-accounts.ts';
export { TRANSACTION_TYPES, type TransactionType } from './programs/transaction-types.ts';
export { decodeInstruction, parsableProgramName } from './records/decode-instruction.ts';
export type { ParsedInfo } from './records/instruction-layout.ts';
export { normalizeTransaction, readTransaction, type Transaction } from './records/transaction.ts';
export { findExceededBound } from './records/transaction-bounds.ts';
export {
  type CompiledInstruction,
  decodeVersionedMessage,
  type VersionedMessage,
} from './records/versioned-transaction.ts';
