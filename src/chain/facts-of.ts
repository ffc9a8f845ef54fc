import bs58 from 'bs58';
import type { AccountData, Facts, ToldInstruction } from './facts.ts';
import type { Instruction } from './instruction.ts';
import { COMPUTE_BUDGET_PROGRAM, programName } from './known-programs.ts';
import { movesOf } from './moves.ts';
import { decodeFailure } from './program-errors.ts';
import type { Transaction } from './transaction.ts';

/** Reads the facts out of a transaction. What its record lacks is told as not having happened. */
export function factsOf(transaction: Transaction): Facts {
  const { err, logs, instructions } = transaction;
  const calls = instructions.map(({ programId, inner }) => ({ programId, calls: inner.length > 0 }));
  return {
    status: err === null ? 'success' : 'failed',
    fee: transaction.fee ?? 0n,
    feePayer: transaction.feePayer,
    signers: transaction.accounts.filter(({ signer }) => signer).map(({ address }) => address),
    signature: transaction.signatures[0] ?? '',
    slot: transaction.slot,
    timestamp: transaction.blockTime,
    computeUnitsConsumed: transaction.computeUnitsConsumed,
    priorityFee: priorityFee(instructions),
    ...movesOf(transaction),
    accountData: accountData(transaction),
    instructions: instructions.map(told),
    transactionError: err === null ? null : decodeFailure({ err, logs, instructions: calls }),
  };
}

function priorityFee(instructions: readonly Instruction[]): number | bigint {
  const price = instructions.find(
    ({ programId, parsed }) => programId === COMPUTE_BUDGET_PROGRAM && parsed?.type === 'setComputeUnitPrice',
  );
  const value = price?.parsed?.info['microLamports'];
  return typeof value === 'bigint' || typeof value === 'number' ? value : 0;
}

function told({ programId, parsed, accounts, data, inner, index, innerIndex }: Instruction): ToldInstruction {
  return {
    index: innerIndex ?? index,
    programId,
    programName: programName(programId),
    type: parsed?.type ?? null,
    info: parsed?.info ?? null,
    accounts,
    data: data === null ? null : bs58.encode(data),
    innerInstructions: inner.map(told),
  };
}

function accountData({
  accounts,
  preBalances,
  postBalances,
  preTokenBalances,
  postTokenBalances,
}: Transaction): AccountData[] {
  const changes = new Map<string, { mint: string; owner: string | null; decimals: number; amount: bigint }>();
  const count =
    (sign: bigint) =>
    (balance: NonNullable<Transaction['preTokenBalances']>[number]): void => {
      const before = changes.get(balance.account);
      changes.set(balance.account, {
        mint: balance.mint,
        owner: balance.owner ?? before?.owner ?? null,
        decimals: balance.decimals,
        amount: (before?.amount ?? 0n) + sign * balance.amount,
      });
    };
  preTokenBalances?.forEach(count(-1n));
  postTokenBalances?.forEach(count(1n));
  return accounts.map(({ address }, place) => {
    const token = changes.get(address);
    return {
      account: address,
      nativeBalanceChange: `${(postBalances[place] ?? 0n) - (preBalances[place] ?? 0n)}`,
      tokenBalanceChanges:
        token === undefined || token.amount === 0n
          ? []
          : [
              {
                userAccount: token.owner ?? address,
                tokenAccount: address,
                mint: token.mint,
                rawTokenAmount: { tokenAmount: `${token.amount}`, decimals: token.decimals },
              },
            ],
    };
  });
}
