import { asBigInt, asDecimals, asObject } from '../codec/json-fields.ts';
import { type Instruction, inExecutionOrder } from '../records/instruction.ts';
import type { ParsedInfo } from '../records/instruction-layout.ts';
import { statusOf, type Transaction } from '../records/transaction.ts';
import { addressAt, effectsIn, type Place, placeOf } from './effects.ts';
import { initializedTokenAccount } from './token-account-balances.ts';
import { TRANSFER_TYPES, type Transfer, type TransferType } from './transfer.ts';
import { type CurrentBalances, TransferLedger } from './transfer-ledger.ts';

/**
 * Extracts the transfers of a transaction in execution order, each from one top-level or inner instruction. One that
 * failed, or of which no record says whether it did, has none. Lamports that a program moves without calling the System or a token program appear only in the
 * balances.
 */
export function extractTransfers(transaction: Transaction, visit?: CallVisitor): Transfer[] {
  if (statusOf(transaction) !== 'success') return [];
  const ledger = new TransferLedger(transaction);
  for (const call of inExecutionOrder(transaction.instructions)) {
    visit?.(call, ledger);
    const [movement] = movementOf(call);
    if (movement === undefined || call.parsed === null) continue;
    const { info } = call.parsed;
    RECORDERS[movement.recorder]?.(ledger, call, {
      from: addressAt(info, movement.from),
      to: addressAt(info, movement.to),
      mint: addressAt(info, movement.mint),
      type: movement.type,
      info,
    });
  }
  return ledger.finish();
}

/** Sees each instruction, with the balances right before it. */
export type CallVisitor = (call: Instruction, balances: CurrentBalances) => void;

/** How an instruction moves something. */
interface Movement {
  readonly recorder: string;
  readonly from: Place;
  readonly to: Place;
  readonly type: TransferType;
  readonly mint: Place;
}

const movementOf = effectsIn('transfers', ([recorder = '', from, to, type = '', mint = 'mint']): Movement => {
  const known = TRANSFER_TYPES.find((name) => name === type) ?? 'transfer';
  return { recorder, from: placeOf(from), to: placeOf(to), type: known, mint: placeOf(mint) };
});

/** What an instruction names of its movement, with its type. */
interface Named extends Pick<Movement, 'type'> {
  readonly from: string | null;
  readonly to: string | null;
  readonly mint: string | null;
  readonly info: ParsedInfo;
}

/** Records an instruction's transfers in the ledger. */
type Recorder = (ledger: TransferLedger, call: Instruction, named: Named) => void;

/** Returns a recorder of what goes from one account to another, or has to do with both. */
const between =
  (record: (ledger: TransferLedger, call: Instruction, from: string, to: string, named: Named) => void): Recorder =>
  (ledger, call, named) => {
    if (named.from !== null && named.to !== null) record(ledger, call, named.from, named.to, named);
  };

const RECORDERS: Readonly<Record<string, Recorder>> = {
  SOL: between((ledger, call, from, to, { type, info }) => {
    const amount = asBigInt(info['lamports'] ?? info['deposit']);
    if (amount !== null) ledger.moveSol(call, from, to, amount, type);
  }),
  // all lamports of an account, whatever its balance is then
  allSol: between((ledger, call, from, to) => ledger.moveSol(call, from, to, ledger.lamportsOf(from))),
  tokens: (ledger, call, { info, type, from, to, mint }) => {
    const amount = asBigInt(info['amount']) ?? tokenAmountOf(info['tokenAmount']);
    const fee = tokenAmountOf(info['feeAmount']);
    if (amount !== null) ledger.moveTokens(call, type, { from, to, mint, amount, fee });
  },
  // the amount is in no instruction; it follows from the balances after
  withheldFees: (ledger, call, { type, from, to, mint }) =>
    ledger.moveTokens(call, type, { from, to, mint, amount: 0n }),
  openAccount: (ledger, call) => {
    const account = initializedTokenAccount(call);
    if (account !== null) ledger.openAccount(call, account.account, account);
  },
  makeMint: (ledger, _, { mint, info }) => {
    const decimals = asDecimals(info['decimals']);
    if (mint !== null && decimals !== null) ledger.makeMint(mint, decimals);
  },
  expectAccount: (ledger, _, { info: { account } }) => {
    if (typeof account === 'string') ledger.expectAccount(account);
  },
  wrapSol: (ledger, call, { to }) => {
    if (to !== null) ledger.wrapSol(call, to);
  },
  unwrapSol: between((ledger, call, from, to, { info }) => ledger.unwrapSol(call, from, to, asBigInt(info['amount']))),
  excess: between((ledger, call, from, to) => ledger.withdrawExcess(call, from, to)),
  closeAccount: between((ledger, call, from, to) => ledger.closeAccount(call, from, to)),
  changeOwner: (ledger, call, { from, to, info: { authorityType } }) => {
    if (from !== null && authorityType === 'accountOwner') ledger.changeOwner(call, from, to);
  },
};

/** Returns the amount of a node's token amount; null if there is none. */
function tokenAmountOf(tokenAmount: unknown): bigint | null {
  const { amount } = asObject(tokenAmount);
  return asBigInt(amount);
}
