import { TOKEN_2022_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import { oncePer } from '../../shared/runtime/once-per.ts';
import { programRole } from '../programs/known-programs.ts';
import { type Instruction, inExecutionOrder } from '../records/instruction.ts';
import type { TokenBalance } from '../records/token-balance.ts';
import type { Transaction } from '../records/transaction.ts';
import { grouped } from './grouped.ts';
import type { AccountData, TokenBalanceChange } from './parsed-transaction.ts';

/** Returns whether a record has the lamports of all accounts. One that was cut may lack those which a call paid. */
export const hasAllLamports = ({ accounts, preBalances, postBalances }: Transaction): boolean =>
  Math.min(preBalances.length, postBalances.length) >= accounts.length;

const isUnread = ({ program, parsed }: Instruction): boolean =>
  program !== null && (parsed === null || parsed.type === 'batch');

/**
 * Returns whether a record was cut, or is older than balances of tokens and inner calls: then few calls show what they move.
 * One of Solana's own that can't be decoded does not, either, such as a batch with too many instructions.
 */
export function isIncomplete(transaction: Transaction): boolean {
  const { accounts, instructions, hasInnerCalls, preBalances, preTokenBalances, postTokenBalances } = transaction;
  const isWhole = hasInnerCalls && preTokenBalances !== null && postTokenBalances !== null;
  const namesAll = (id: string): boolean => programRole(id) === 'core' && id !== TOKEN_2022_PROGRAM; // whose fees it does not
  return (
    !hasAllLamports(transaction) ||
    preBalances.length > accounts.length ||
    inExecutionOrder(instructions).some(isUnread) ||
    instructions.some(
      ({ programId, accounts: handed }) => programId === '' || handed.includes('') || !(isWhole || namesAll(programId)),
    )
  );
}

/** Returns the changes of every account that are recorded, in the transaction's order. Zero token changes are left out. */
export function accountDataOf(transaction: Transaction): AccountData[] {
  const { accounts, preBalances, postBalances } = transaction;
  const tokens = tokenChangesByAccount(changedTokens(transaction));
  return accounts.flatMap(({ address: account }, index): AccountData[] => {
    const [before, after] = [preBalances[index], postBalances[index]];
    const isRecorded = before !== undefined && after !== undefined;
    const tokenBalanceChanges = tokens.get(account) ?? [];
    const nativeBalanceChange = isRecorded ? `${after - before}` : null;
    return isRecorded || tokenBalanceChanges.length > 0 ? [{ account, nativeBalanceChange, tokenBalanceChanges }] : [];
  });
}

/** Returns token balances before, negative, and those after; without accounts of which nothing changed. */
export const changedTokens = oncePer((transaction: Transaction): readonly TokenBalance[] => {
  const { preTokenBalances, postTokenBalances } = transaction;
  const signed = (sign: 1n | -1n, balances: readonly TokenBalance[] | null, others: readonly TokenBalance[] | null) => {
    const byAccount = new Map(others?.map((balance) => [balance.account, balance]));
    return (balances ?? []).flatMap((balance) => {
      const other = byAccount.get(balance.account);
      const isSame =
        other?.mint === balance.mint &&
        other.decimals === balance.decimals &&
        other.amount === balance.amount &&
        other.owner === balance.owner;
      if (isSame) return [];
      const owner = balance.owner ?? other?.owner ?? null;
      return { ...balance, owner, amount: sign * balance.amount };
    });
  };
  return [...signed(-1n, preTokenBalances, postTokenBalances), ...signed(1n, postTokenBalances, preTokenBalances)];
});

/** Groups token changes by account, mint and owner. An account may end under another mint or owner than before. */
function tokenChangesByAccount(changed: readonly TokenBalance[]): ReadonlyMap<string, readonly TokenBalanceChange[]> {
  const byAccount = grouped(changed, ({ account }) => account);
  return new Map(
    byAccount.map((ofAccount): [string, TokenBalanceChange[]] => {
      const [{ account } = { account: '' }] = ofAccount;
      const changes = grouped(ofAccount, ({ mint, owner, decimals }) => `${mint} ${owner} ${decimals}`).flatMap(
        (same) => {
          const [{ mint, owner, decimals } = { mint: '', owner: null, decimals: 0 }] = same;
          const amount = same.reduce((sum, change) => sum + change.amount, 0n);
          const rawTokenAmount = { tokenAmount: `${amount}`, decimals };
          return amount === 0n ? [] : [{ userAccount: owner ?? account, tokenAccount: account, mint, rawTokenAmount }];
        },
      );
      return [account, changes];
    }),
  );
}
