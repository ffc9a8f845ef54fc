import type { TransactionType } from '../programs/transaction-types.ts';
import type { Remainder } from './action.ts';
import type { AssetAmount } from './asset-amount.ts';
import type { AuthorityChange } from './authority-changes.ts';
import type { ConfidentialTransfer } from './confidential-transfers.ts';
import type { NetChange } from './net-change.ts';
import type { Nft } from './nft-asset.ts';
import type { Royalty } from './nft-sale.ts';
import type { Payment, SupplyChange } from './payments.ts';
import type { Share } from './share.ts';
import type { Mover, Swap } from './swap-legs.ts';

/** What every interpretation says. */
interface InterpretationOf<Type extends TransactionType> {
  readonly type: Type;
  /** The wallet that acted. */
  readonly actor: string;
  /** The program that is credited; null if Solana's own did it. */
  readonly program: string | null;
  /** What its sentence states of the actions. */
  readonly states: readonly Share[];
}

/** A trade. */
export interface SwapInterpretation extends InterpretationOf<'SWAP'> {
  /** Null if the trade was only tried. */
  readonly swap: Swap | null;
}

/** The launch of a token; what was bought of it in the same transaction is a trade. */
export interface LaunchInterpretation extends InterpretationOf<'CREATE'> {
  /** The mint; null if it isn't known. */
  readonly mint: string | null;
  /** Name and symbol as the instruction says them; null if it doesn't. */
  readonly name: string | null;
  readonly symbol: string | null;
  readonly swap: Swap | null;
}

/** The order of somebody else was filled; the actor is the order's owner. */
export interface OrderFillInterpretation extends InterpretationOf<'FILL_ORDER'> {
  /** Null if that was only tried. */
  readonly swap: Swap | null;
}

/** A trade in a circle. */
export interface ArbitrageInterpretation extends InterpretationOf<'ARBITRAGE'>, NetChange {
  /** The exchanges that were called, or passed to a program that may trade on them. */
  readonly exchanges: readonly string[];
  /** Whether anything was traded; if not, that is what was tried. */
  readonly hasTraded: boolean;
  /** What the transaction paid besides, such as a fee of a service. */
  readonly payments: readonly Payment[];
  /** The change of the actor's SOL in either form, the fee and tips included. */
  readonly solChange: bigint;
}

/** What somebody can give to a program or get from it. */
const EXCHANGE_TYPES = [
  'ADD_TO_POOL',
  'REMOVE_FROM_POOL',
  'OPEN_ORDER',
  'CANCEL_ORDER',
  'BORROW',
  'REPAY_LOAN',
  'DEPOSIT',
  'WITHDRAW',
  'LIQUIDATE',
  'CLAIM',
  'BRIDGE_DEPOSIT',
  'BRIDGE_FULFILMENT',
] as const;

export type ExchangeType = (typeof EXCHANGE_TYPES)[number];

export const isExchangeType = (type: TransactionType | null): type is ExchangeType =>
  EXCHANGE_TYPES.some((known) => known === type);

/** A use of a program, interpreted by what the actor gave and got. */
export interface ExchangeOfValueInterpretation extends InterpretationOf<ExchangeType>, NetChange {
  /** What a bridge or its relayer paid out, or a pool to others, to whom; empty for all else. */
  readonly payouts: readonly Payment[];
  /** The wallets that own the orders; none if the actor owns them all. */
  readonly owners: readonly string[];
}

/** Payments between wallets, or what the fee payer gained and lost where none is recorded. */
export interface TransferInterpretation extends InterpretationOf<'TRANSFER'>, NetChange {
  readonly payments: readonly Payment[];
}

/** An NFT changed owners. */
export interface NftTransferInterpretation extends InterpretationOf<'NFT_TRANSFER'> {
  readonly nfts: readonly Nft[];
  /** What was given and received with it, if that was an exchange; which side sold is unknown. */
  readonly swap: Swap | null;
  readonly payments: readonly Payment[];
}

/** Something was done to NFTs. */
export interface NftInterpretation
  extends InterpretationOf<
    | 'NFT_SALE'
    | 'NFT_LISTING'
    | 'NFT_CANCEL_LISTING'
    | 'NFT_BID'
    | 'NFT_BID_CANCELLED'
    | 'NFT_MINT'
    | 'BURN_NFT'
    | 'COMPRESSED_NFT_MINT'
    | 'COMPRESSED_NFT_TRANSFER'
    | 'COMPRESSED_NFT_BURN'
  > {
  readonly nfts: readonly Nft[];
  /** The wallet that sold, listed or gave away; null if none or several. */
  readonly seller: string | null;
  /** The wallet that bought, bid or got it; null if none or several. */
  readonly buyer: string | null;
  /** Who signed in the place of the wallet that gave away; null if that did. */
  readonly mover: Mover | null;
  /** What a buyer paid in all, what a listing or a bid names, or what a mint cost; null if unknown or nothing. */
  readonly price: AssetAmount | null;
  /** What the seller got of it; null if unknown. */
  readonly proceeds: AssetAmount | null;
  /** What creators got of it; null if it isn't known which receivers are creators. */
  readonly royalties: readonly Royalty[] | null;
  /** Rent that a burn gave back to the actor, in lamports. */
  readonly refund: bigint;
}

/** Tokens were minted or burned. */
export interface SupplyInterpretation extends InterpretationOf<'TOKEN_MINT' | 'BURN'>, NetChange {
  readonly amounts: readonly SupplyChange[];
}

/** A change of stake. */
export interface StakeInterpretation extends InterpretationOf<'STAKE' | 'SPLIT_STAKE' | 'MERGE_STAKE' | 'UNSTAKE'> {
  readonly change: 'delegated' | 'moved' | 'withdrawn' | 'deactivated';
  readonly stakeAccount: string;
  /** The vote account, or the stake account that got the stake. */
  readonly target: string;
  /** Lamports; null if unknown, or if all of it. */
  readonly lamports: bigint | null;
}

/** An account was opened, made larger or closed. */
export interface AccountInterpretation extends InterpretationOf<'CREATE_ACCOUNT' | 'CLOSE_ACCOUNT'> {
  readonly accounts: ReadonlySet<string>;
  /** The owner and the mint of the token account that was opened, if it was one alone. */
  readonly tokenAccount: { readonly wallet: string; readonly mint: string } | null;
  /** The lookup table that got addresses. */
  readonly table: string | null;
  /** How many accounts a token program closed, and how many of them are known to be no mints. */
  readonly closedAccounts: number;
  readonly closedTokenAccounts: number;
  /** Lamports that the fee payer got back. */
  readonly refund: bigint;
}

/** A change of an authority over something. */
export interface AuthorityInterpretation
  extends InterpretationOf<'SET_AUTHORITY' | 'APPROVE' | 'REVOKE' | 'FREEZE' | 'THAW'> {
  /** Null if it was only tried. */
  readonly change: AuthorityChange | null;
}

/** A program was put on the chain or changed. */
export interface ProgramInterpretation extends InterpretationOf<'PROGRAM_DEPLOY' | 'PROGRAM_UPGRADE'> {
  readonly change: 'deployed' | 'upgraded' | 'extended' | 'uploaded' | 'prepared';
  /** The programs, or the accounts that are to become some; none if unknown. */
  readonly accounts: readonly string[];
}

export interface NonceInterpretation extends InterpretationOf<'NONCE_ADVANCE'> {
  readonly nonceAccount: string | null;
}

export interface MemoInterpretation extends InterpretationOf<'MEMO'> {
  readonly memo: string;
}

export interface VoteInterpretation extends InterpretationOf<'VOTE'> {
  readonly voteAccount: string;
}

/** What a program can be called for. */
const CALL_TYPES = [
  'QUOTE_UPDATE',
  'PLACE_ORDER',
  'ORACLE_UPDATE',
  'BRIDGE',
  'PERPS',
  'GAME',
  'LEND',
  'INFRA',
  'UNKNOWN',
] as const;

export type CallType = (typeof CALL_TYPES)[number];

export const isCallType = (type: TransactionType | null): type is CallType =>
  CALL_TYPES.some((known) => known === type);

/** A call of a program, interpreted by what the program is for. */
export interface CallInterpretation extends InterpretationOf<CallType>, NetChange {
  /** The type of the instruction, if one of our decoders or a table names it. */
  readonly instruction: string | null;
  /** What the program calls it, where they don't. */
  readonly calledName: string | null;
  /** Whether no balance changed but for the fee and tips. */
  readonly isUntouched: boolean;
  /** Whether the type says no more than what the program is for. */
  readonly isByRole: boolean;
}

/** What a transaction was, with all that its sentence and its events say. */
export type Interpretation =
  | SwapInterpretation
  | LaunchInterpretation
  | OrderFillInterpretation
  | ArbitrageInterpretation
  | ExchangeOfValueInterpretation
  | TransferInterpretation
  | NftTransferInterpretation
  | NftInterpretation
  | SupplyInterpretation
  | StakeInterpretation
  | AccountInterpretation
  | AuthorityInterpretation
  | ProgramInterpretation
  | NonceInterpretation
  | MemoInterpretation
  | VoteInterpretation
  | CallInterpretation;

/** What a transaction did beside its interpretation, so that a harmless sentence hides nothing. */
export interface Asides extends Remainder {
  /** What others may do from now on, the most dangerous first. */
  readonly rights: readonly AuthorityChange[];
  /** Stake that was delegated or deactivated. */
  readonly stakes: readonly StakeInterpretation[];
  /** Movements of tokens whose amounts are hidden. */
  readonly hiddenTransfers: readonly ConfidentialTransfer[];
  /** How many transfers moved tokens that no record names. */
  readonly unnamedTransfers: number;
  /** Whether the record lacks balances, so that they do not show what moved. */
  readonly isIncomplete: boolean;
  /** Notes beside a transfer. */
  readonly memos: readonly string[];
  /** Whether rights and losses go before the interpretation. */
  readonly goFirst: boolean;
}

/** Returns whether anything happened beside an interpretation, but for a note. */
export const hasAsides = ({
  actions,
  changes,
  rights,
  stakes,
  hiddenTransfers,
  unnamedTransfers,
  isIncomplete,
}: Omit<Asides, 'memos' | 'goFirst'>): boolean =>
  [actions, changes, rights, stakes, hiddenTransfers].some(({ length }) => length > 0) ||
  unnamedTransfers > 0 ||
  isIncomplete;

/** An interpretation, with the tips that were paid beside it and all else that it leaves out. */
export type Interpreted<Kind extends Interpretation = Interpretation> = Kind & {
  readonly tips: readonly Payment[];
  readonly asides: Asides;
};
