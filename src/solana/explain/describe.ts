import type { TransactionKind } from '../analysis/classify.ts';
import type { Facts } from '../analysis/facts.ts';
import { tellClosed, tellDeploy, tellOpened, tellUpgrade } from './tell-account.ts';
import { tellCall, tellMemo, tellNonce, tellVote } from './tell-call.ts';
import { tellBurn, tellMint, tellNft, tellSwap, tellTransfer } from './tell-movement.ts';
import { tellStake, tellUnstake } from './tell-stake.ts';
import type { Spelling } from './wording.ts';

const TELL: Readonly<Record<TransactionKind, (facts: Facts, spell: Spelling) => string>> = {
  SWAP: tellSwap,
  TRANSFER: tellTransfer,
  NFT_TRANSFER: tellNft,
  TOKEN_MINT: tellMint,
  BURN: tellBurn,
  STAKE: tellStake,
  UNSTAKE: tellUnstake,
  CREATE_ACCOUNT: tellOpened,
  CLOSE_ACCOUNT: tellClosed,
  PROGRAM_DEPLOY: tellDeploy,
  PROGRAM_UPGRADE: tellUpgrade,
  NONCE_ADVANCE: tellNonce,
  MEMO: tellMemo,
  VOTE: tellVote,
  UNKNOWN: tellCall,
};

/** One sentence that a person would write of a transaction that succeeded, without its full stop. It says nothing that the facts don't. */
export const describe = (facts: Facts, kind: TransactionKind, spell: Spelling): string => TELL[kind](facts, spell);
