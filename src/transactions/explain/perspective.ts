import { type Action, type ActionAmount, effectsOf } from '../analysis/action.ts';
import { negate } from '../analysis/asset-amount.ts';
import type { AuthorityChange } from '../analysis/authority-changes.ts';
import type { Interpreted } from '../analysis/interpretation.ts';
import { parseTransaction } from '../analysis/parse-transaction.ts';
import { allInstructions, type ParsedTransaction } from '../analysis/parsed-transaction.ts';
import { sumByMint } from '../analysis/payments.ts';
import { findGivenRights, isSaidByRight } from '../analysis/rules/given-rights.ts';
import { interpretTransaction } from '../analysis/rules/interpret-transaction.ts';
import { findOpenedAccounts, findTokenAccountOwners, walletChangesOf } from '../analysis/wallet-changes.ts';
import type { Transaction } from '../records/transaction.ts';
import { type Clause, joinClauses } from './clauses.ts';
import { clausesOf, isTipDescribed, OUTCOME_UNKNOWN, withMemo } from './describe-transaction.ts';
import { type FormatAddress, formatSol, fullAddress, YOU } from './sentence-formats.ts';
import { describeActions, INCOMPLETE } from './sentences-aside.ts';

/** What a transaction was for one wallet. */
export interface Perspective {
  readonly address: string;
  /** The signed change of its balances by mint, the fee included. SOL in either form has the mint of wrapped SOL. */
  readonly changes: readonly ActionAmount[];
  /** The transaction in one sentence, in which the wallet is `you`. */
  readonly description: string;
}

/** Describes a transaction from the view of a wallet; null if the wallet is no party to it. */
export function perspectiveOf(
  address: string,
  parsed: ParsedTransaction,
  interpretation: Interpreted,
  format: FormatAddress,
): Perspective | null {
  if (!isParty(address, parsed)) return null;
  const changes = walletChangesOf(parsed).get(address) ?? [];
  const { status } = parsed;
  const outcome = status === null ? `a transaction was sent, but ${OUTCOME_UNKNOWN}` : 'the transaction failed';
  const clauses = status === 'success' ? clausesFor(address, parsed, interpretation, format) : [{ text: outcome }];
  const isTipSaid = isDescribedWhole(address, parsed, interpretation) && isTipDescribed(interpretation);
  const costs = costsOf(address, parsed, !isTipSaid);
  return {
    address,
    changes: changes.map(({ mint, amount, decimals }) => ({ mint, amount: `${amount}`, decimals })),
    description: capitalized([joinClauses(clauses, YOU), ...costs.map((cost) => `you paid ${cost}`)].join('; ')),
  };
}

/** Describes a transaction for a row of an address' history; null if the address is no party to it. */
export function describeFor(address: string, transaction: Transaction): string | null {
  const parsed = parseTransaction(transaction);
  return perspectiveOf(address, parsed, interpretTransaction(parsed), fullAddress)?.description ?? null;
}

/** Describes a successful transaction from the view of a party, without what it cost. */
export function clausesFor(
  address: string,
  parsed: ParsedTransaction,
  interpretation: Interpreted,
  shownAs: FormatAddress,
): readonly Clause[] {
  const formatAddress = asYou(address, shownAs);
  if (isDescribedWhole(address, parsed, interpretation)) return clausesOf(interpretation, formatAddress);
  const own = parsed.actions.filter((action) => isOf(action, address));
  const moved = own.filter(({ kind }) => kind !== 'asset'); // which no balance shows
  const explained = moved.flatMap(effectsOf).filter(([wallet]) => wallet === address);
  const all = walletChangesOf(parsed).get(address) ?? [];
  const rest = sumByMint([...all, ...explained.map(([, amount]) => negate(amount))]);
  const changes = rest.filter(({ amount }) => amount !== 0n).map((amount) => [address, amount] as const);
  const got = new Set(all.flatMap(({ mint, amount }) => (amount > 0n ? [mint] : [])));
  const rights = findGivenRights(parsed).filter(
    (change) => partiesOf(change).includes(address) || got.has(change.account),
  );
  const actions = own
    .filter((action) => !isSaidByRight(rights, action))
    .map((action): Action => (isSent(action, address) ? { ...action, kind: 'transfer' } : action));
  const hiddenTransfers = parsed.confidentialTransfers.filter(
    ({ type, fromUserAccount, toUserAccount }) =>
      type !== 'apply' && (fromUserAccount === address || toUserAccount === address),
  );
  const [given, received] = [
    actions.filter(({ actor, authority }) => [actor, authority].includes(address)),
    actions.filter(({ actor, authority }) => ![actor, authority].includes(address)),
  ];
  const [lost, gained] = [
    changes.filter(([, { amount }]) => amount < 0n),
    changes.filter(([, { amount }]) => amount > 0n),
  ];
  const stakes = interpretation.asides.stakes.filter(({ actor }) => actor === address);
  const format = { actor: address, giver: interpretation.actor, formatAddress };
  const [first, ...others] = [
    ...describeActions({ actions: given, changes: lost, rights, stakes, hiddenTransfers, unnamedTransfers: 0 }, format),
    ...describeActions({ actions: received, changes: gained, ...NOTHING }, format),
    ...(parsed.isIncomplete ? [INCOMPLETE] : []),
  ];
  if (first !== undefined) return [withMemo(first.text, interpretation), ...others];
  const isPayer = own.some(({ kind, actor }) => (kind === 'fee' || kind === 'tip') && actor === address);
  return [{ text: isPayer ? 'nothing of yours changed but the cost' : 'no balance of yours changed' }];
}

const NOTHING = { rights: [], stakes: [], hiddenTransfers: [], unnamedTransfers: 0 };

const partiesOf = ({ account, owner, from, to, authority }: AuthorityChange): readonly (string | null)[] => [
  account,
  owner,
  from,
  to,
  authority,
];

/** Returns whether an action of another kind is to its receiver as if somebody had sent it. */
const isSent = ({ kind, counterparty }: Action, address: string): boolean =>
  kind === 'changeOwner' || (kind === 'tip' && counterparty === address);

/** Returns whether a wallet did what the description is about, so that it says all that changed for it. */
const isDescribedWhole = (address: string, { signers }: ParsedTransaction, { actor }: Interpreted): boolean =>
  actor === address && signers.includes(address);

/** Returns the formatter for a sentence from the view of a wallet. */
export const asYou = (you: string, format: FormatAddress): FormatAddress =>
  Object.assign((address: string) => (address === you ? YOU : format(address)), format);

/** Begins a sentence with a capital letter if it begins with a word of ours: an address keeps its letters. */
export const capitalized = (sentence: string): string =>
  sentence.replace(/^(you|no|the|a|nothing)(?=[ ,])/, (word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`);

/**
 * Returns whether an address is a wallet that a transaction concerns: one of its accounts or an owner of tokens, but no mint,
 * program, token account, or account that it made.
 */
export function isParty(address: string, parsed: ParsedTransaction): boolean {
  const { accountData, actions, tokenTransfers, authorityChanges, feePayer, signers } = parsed;
  if (address === feePayer || signers.includes(address)) return true;
  const tokens = accountData.flatMap(({ tokenBalanceChanges }) => tokenBalanceChanges);
  const isOwner = tokens.some(({ userAccount }) => userAccount === address);
  const isNoWallet =
    findOpenedAccounts(parsed).has(address) ||
    (findTokenAccountOwners(parsed).get(address) ?? address) !== address ||
    [...tokens, ...tokenTransfers].some(({ mint }) => mint === address) ||
    allInstructions(parsed).some(({ programId, info }) => programId === address || info?.['mint'] === address);
  return (
    (isOwner ||
      accountData.some(({ account }) => account === address) ||
      actions.some((action) => isOf(action, address)) ||
      authorityChanges.some((change) => partiesOf(change).includes(address))) &&
    !isNoWallet
  );
}

const isOf = ({ actor, counterparty, authority }: Action, address: string): boolean =>
  [actor, counterparty, authority].includes(address);

/** Names the fee and the tips that an address paid. */
function costsOf(address: string, { actions }: ParsedTransaction, hasTip: boolean): readonly string[] {
  const paid = (kind: Action['kind']): bigint =>
    actions
      .filter((action) => action.kind === kind && action.actor === address)
      .reduce((sum, { given: [first] }) => sum + BigInt(first?.amount ?? 0), 0n);
  const [fee, tip] = [paid('fee'), hasTip ? paid('tip') : 0n];
  return [
    ...(fee === 0n ? [] : [`the fee of ${formatSol(fee)}`]),
    ...(tip === 0n ? [] : [`a tip of ${formatSol(tip)}`]),
  ];
}
