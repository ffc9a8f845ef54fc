import type { ParsedTransaction } from '../analysis/parsed-transaction.ts';
import type { TransactionType } from '../programs/transaction-types.ts';
import type { FormatAddress } from './sentence-formats.ts';
import { describeClosing, describeDeploy, describeOpening, describeUpgrade } from './sentences-account.ts';
import { describeMemo, describeNonceAdvance, describeVote } from './sentences-memo-vote-nonce.ts';
import {
  describeBurn,
  describeMint,
  describeNftTransfer,
  describeSwap,
  describeTransfer,
} from './sentences-movement.ts';
import { describeStake, describeUnstake } from './sentences-stake.ts';
import { describeUnknownCall } from './sentences-unknown-call.ts';

const DESCRIBE_BY_TYPE: Readonly<
  Partial<Record<TransactionType, (parsed: ParsedTransaction, formatAddress: FormatAddress) => string>>
> = {
  SWAP: describeSwap,
  TRANSFER: describeTransfer,
  NFT_TRANSFER: describeNftTransfer,
  TOKEN_MINT: describeMint,
  BURN: describeBurn,
  STAKE: describeStake,
  UNSTAKE: describeUnstake,
  CREATE_ACCOUNT: describeOpening,
  CLOSE_ACCOUNT: describeClosing,
  PROGRAM_DEPLOY: describeDeploy,
  PROGRAM_UPGRADE: describeUpgrade,
  NONCE_ADVANCE: describeNonceAdvance,
  MEMO: describeMemo,
  VOTE: describeVote,
  UNKNOWN: describeUnknownCall,
};

/** Describes a successful transaction in one sentence, without its full stop, from its parsed form alone. */
export const describeTransaction = (
  parsed: ParsedTransaction,
  type: TransactionType,
  formatAddress: FormatAddress,
): string => (DESCRIBE_BY_TYPE[type] ?? describeUnknownCall)(parsed, formatAddress);
