import { WRAPPED_SOL } from '../../shared/domain/known-mints.ts';
import type { TokenLabel } from '../accounts/token-label.ts';
import type { AssetAmount } from '../analysis/asset-amount.ts';
import type { Interpretation } from '../analysis/interpretation.ts';
import { sourceOf } from '../analysis/main-program.ts';
import { type IdlNames, parseTransaction } from '../analysis/parse-transaction.ts';
import type { ParsedTransaction, TokenBalanceChange } from '../analysis/parsed-transaction.ts';
import { interpretTransaction } from '../analysis/rules/interpret-transaction.ts';
import type { Swap } from '../analysis/swap-legs.ts';
import type { TransactionType } from '../programs/transaction-types.ts';
import type { Transaction } from '../records/transaction.ts';
import { describeAttempt, describeTransaction, OUTCOME_UNKNOWN } from './describe-transaction.ts';
import { type NftEvent, nftEventOf } from './nft-event.ts';
import { type Perspective, perspectiveOf } from './perspective.ts';
import { fullAddress } from './sentence-formats.ts';
import { unnamedProgramOf } from './sentences-call.ts';

/** A token leg of a swap; `tokenAccount` is null if several accounts of the wallet were involved. */
type SwapToken = Omit<TokenBalanceChange, 'tokenAccount'> & { readonly tokenAccount: string | null };

/** The legs of a swap from the wallet's view: SOL in either form is native. */
interface SwapEvent {
  readonly tokenInputs: readonly SwapToken[];
  readonly tokenOutputs: readonly SwapToken[];
  readonly nativeInput: { readonly account: string; readonly amount: string } | null;
  readonly nativeOutput: { readonly account: string; readonly amount: string } | null;
}

/** A transaction with its interpretation: `enhanced` of `/tx`. Helius' names, exact amounts. */
export interface EnhancedTransaction extends ParsedTransaction {
  /** Description in one sentence, with full addresses. */
  readonly description: string;
  readonly type: TransactionType;
  /** Helius' name of the program that the description credits, or its id. */
  readonly source: string;
  readonly events: { readonly swap?: SwapEvent; readonly nft?: NftEvent };
  /** The same from the view of the wallet that was named, if it is a party. */
  readonly perspective?: Perspective;
}

/** How the description names tokens, and what is called with each gap. */
export interface EnhanceOptions {
  /** Labels of tokens, by mint. Default: none but the best-known ones. */
  readonly labels?: ReadonlyMap<string, TokenLabel>;
  /** What IDLs call the instructions of programs. Default: nothing. */
  readonly idlNames?: IdlNames;
  /** The wallet from whose view the transaction is described, too. Default: none. */
  readonly perspective?: string;
  /** Called with the program whose call the description does not name. */
  readonly onUnnamed?: (program: string) => void;
  /** Called with each mint that the description names by its address. */
  readonly onUnlabelled?: (mint: string) => void;
  /** Called with the error that left a transaction UNKNOWN. */
  readonly onError?: (defect: unknown) => void;
}

/** Interprets a transaction: a program that nobody knows is described by what moved. */
export function enhanceTransaction(transaction: Transaction, options: EnhanceOptions = {}): EnhancedTransaction {
  const parsed = parseTransaction(transaction, options.idlNames);
  const { type, description, source, ...rest } = describe(parsed, options);
  return { description, type, source, ...parsed, ...rest };
}

/** Returns type, description and events. A transaction that can't be interpreted is UNKNOWN: its facts stay useful. */
function describe(
  parsed: ParsedTransaction,
  { labels, perspective: wallet, onUnlabelled, onUnnamed, onError }: EnhanceOptions,
): Pick<EnhancedTransaction, 'type' | 'description' | 'source' | 'events' | 'perspective'> {
  try {
    const interpretation = interpretTransaction(parsed);
    const { type } = interpretation;
    const source = sourceOf(interpretation.program, parsed);
    const labelOf = (mint: string): TokenLabel | undefined => {
      const label = labels?.get(mint);
      if (label === undefined) onUnlabelled?.(mint);
      return label;
    };
    const formatAddress = Object.assign((address: string) => fullAddress(address), { labelOf });
    const description =
      parsed.status === 'success'
        ? describeTransaction(interpretation, formatAddress)
        : (parsed.transactionError?.message ??
          `${describeAttempt(interpretation, parsed, formatAddress)}, but ${OUTCOME_UNKNOWN}`);
    const unnamed = unnamedProgramOf(interpretation);
    if (parsed.status === 'success' && unnamed !== null) onUnnamed?.(unnamed);
    const perspective = wallet === undefined ? null : perspectiveOf(wallet, parsed, interpretation, formatAddress);
    return { type, description, source, events: eventsOf(interpretation, parsed), ...(perspective && { perspective }) };
  } catch (error) {
    onError?.(error);
    const description = parsed.transactionError?.message ?? `${parsed.feePayer} sent a transaction`;
    return { type: 'UNKNOWN', description, source: sourceOf(null, parsed), events: {} };
  }
}

function eventsOf(interpretation: Interpretation, parsed: ParsedTransaction): EnhancedTransaction['events'] {
  if ('nfts' in interpretation) return parsed.status === 'success' ? { nft: nftEventOf(interpretation) } : {};
  if (!('swap' in interpretation)) return {};
  const { swap } = interpretation;
  return swap === null || swap.wallet === null ? {} : { swap: toSwapEvent(swap.wallet, swap, parsed) };
}

function toSwapEvent(wallet: string, { inputs, outputs }: Swap, parsed: ParsedTransaction): SwapEvent {
  const changes = parsed.accountData.flatMap((account) => account.tokenBalanceChanges);
  const tokenLegs = (legs: readonly AssetAmount[]): SwapToken[] =>
    legs
      .filter(({ mint }) => mint !== WRAPPED_SOL)
      .map(({ mint, amount, decimals }) => {
        const accounts = changes.filter((change) => change.userAccount === wallet && change.mint === mint);
        const tokenAccount = accounts.length === 1 ? (accounts[0]?.tokenAccount ?? null) : null;
        return { userAccount: wallet, tokenAccount, mint, rawTokenAmount: { tokenAmount: `${amount}`, decimals } };
      });
  const nativeLeg = (legs: readonly AssetAmount[]): SwapEvent['nativeInput'] => {
    const sol = legs.find(({ mint }) => mint === WRAPPED_SOL);
    return sol === undefined ? null : { account: wallet, amount: `${sol.amount}` };
  };
  return {
    tokenInputs: tokenLegs(inputs),
    tokenOutputs: tokenLegs(outputs),
    nativeInput: nativeLeg(inputs),
    nativeOutput: nativeLeg(outputs),
  };
}
