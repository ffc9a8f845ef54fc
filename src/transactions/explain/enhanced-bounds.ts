import { asArray, asObject, type JsonObject } from '../codec/json-fields.ts';
import { MAX_ACCOUNTS, MAX_INSTRUCTIONS, MAX_SIGNERS } from '../records/transaction-bounds.ts';

/** Most token balances of one account that a transaction can change: it may be closed and opened under another mint. */
const MAX_TOKEN_CHANGES = 2;
/** Each movement is an action of at most two wallets; the fee and what has no instruction come on top. */
const MAX_ACTIONS = 2 * MAX_INSTRUCTIONS + MAX_ACCOUNTS;
/** Longest decimal text of an amount: a sum of u64 values with its sign. */
const MAX_AMOUNT_LENGTH = 40;

/**
 * Finds the bound that an enhanced transaction from a caller exceeds, as {@link findExceededBound} does for a record:
 * before its form is checked, since the check of a long list with nothing but mistakes takes long, too. Returns the
 * reason for the caller; undefined if it could be a transaction's.
 */
export function findExceededEnhancedBound(enhanced: unknown): string | undefined {
  const { signers, accountData, instructions, events, ...movements } = asObject(enhanced);
  const { nativeTransfers, tokenTransfers, confidentialTransfers, authorityChanges, actions, unaccounted } = movements;
  const { swap, nft } = asObject(events);
  const { tokenInputs, tokenOutputs } = asObject(swap);
  const { nfts, royalties } = asObject(nft);
  const accounts = asArray(accountData).map(asObject);
  const tokenChanges = accounts.map(({ tokenBalanceChanges }) => asArray(tokenBalanceChanges));
  const transfers = [nativeTransfers, tokenTransfers, confidentialTransfers].flatMap(asArray).map(asObject);
  const changes = asArray(authorityChanges).map(asObject);
  const [listedActions, open] = [asArray(actions).map(asObject), asArray(unaccounted).map(asObject)];
  const legs = listedActions.flatMap(({ given, got }) => [asArray(given), asArray(got)]);
  const calls = withInnerCalls(asArray(instructions));
  const callAccounts = calls.map((call) => asArray(call['accounts']));
  const amounts = [
    ...transfers.flatMap(({ amount, feeAmount }) => [amount, feeAmount]),
    ...changes.flatMap(({ amount, basisPoints, tokenBalance, lamports }) => [
      ...[amount, basisPoints, tokenBalance, lamports],
    ]),
    ...listedActions.map(({ withheld }) => withheld),
    ...[...open, ...legs.flat().map(asObject)].map(({ amount }) => amount),
    ...accounts.map(({ nativeBalanceChange }) => nativeBalanceChange),
    ...tokenChanges.flat().map((change) => asObject(asObject(change)['rawTokenAmount'])['tokenAmount']),
  ];
  if (asArray(signers).length > MAX_SIGNERS) return `a transaction has at most ${MAX_SIGNERS} signers`;
  if (accounts.length > MAX_ACCOUNTS) return `a transaction has at most ${MAX_ACCOUNTS} accounts`;
  if (tokenChanges.some(({ length }) => length > MAX_TOKEN_CHANGES))
    return `an account has at most ${MAX_TOKEN_CHANGES} token balance changes`;
  if (calls.length > MAX_INSTRUCTIONS) return `a transaction has at most ${MAX_INSTRUCTIONS} instructions`;
  if (callAccounts.some(({ length }) => length > MAX_ACCOUNTS))
    return `an instruction has at most ${MAX_ACCOUNTS} accounts`;
  if (callAccounts.flat().some((account) => typeof account !== 'string')) return 'an account is named by its address';
  if (transfers.length > MAX_INSTRUCTIONS) return `a transaction has at most ${MAX_INSTRUCTIONS} transfers`;
  if (changes.length > MAX_INSTRUCTIONS) return `a transaction has at most ${MAX_INSTRUCTIONS} changes of authority`;
  if (listedActions.length > MAX_ACTIONS) return `a transaction has at most ${MAX_ACTIONS} actions`;
  if (open.length > MAX_ACCOUNTS) return `a transaction has at most ${MAX_ACCOUNTS} unaccounted changes`;
  if (legs.some(({ length }) => length > MAX_ACCOUNTS)) return `an action has at most ${MAX_ACCOUNTS} amounts`;
  if ([tokenInputs, tokenOutputs].some((legs) => asArray(legs).length > MAX_ACCOUNTS))
    return `a swap has at most ${MAX_ACCOUNTS} tokens`;
  if (asArray(nfts).length > MAX_INSTRUCTIONS) return `a transaction has at most ${MAX_INSTRUCTIONS} NFTs`;
  if (asArray(royalties).length > MAX_ACCOUNTS) return `a sale has at most ${MAX_ACCOUNTS} royalties`;
  return amounts.some((amount) => typeof amount === 'string' && amount.length > MAX_AMOUNT_LENGTH)
    ? `an amount has at most ${MAX_AMOUNT_LENGTH} digits`
    : undefined;
}

/** Lists calls with those in them, two levels deep: there may be none below, but a caller can write some. */
function withInnerCalls(calls: readonly unknown[]): readonly JsonObject[] {
  const inner = calls.flatMap((call) => asArray(asObject(call)['innerInstructions']));
  return [...calls, ...inner, ...inner.flatMap((call) => asArray(asObject(call)['innerInstructions']))].map(asObject);
}
