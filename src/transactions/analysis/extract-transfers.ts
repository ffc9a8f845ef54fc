import { asBigInt, asObject, asString } from '../codec/json-fields.ts';
import { type Instruction, inExecutionOrder } from '../transactions/instruction.ts';
import type { ParsedInfo } from '../transactions/instruction-layout.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { confidentialAccountOf } from './confidential-transfers.ts';
import { initializedTokenAccount } from './token-account-balances.ts';
import type { Transfer, TransferType } from './transfer.ts';
import { type CurrentBalances, TransferLedger } from './transfer-ledger.ts';

/**
 * Extracts the transfers of a transaction in execution order, each from one top-level or inner instruction. A failed
 * transaction has none. Lamports that a program moves without calling the System or a token program appear only in the
 * balances.
 */
export function extractTransfers(transaction: Transaction, visit?: CallVisitor): Transfer[] {
  if (transaction.err !== null) return [];
  const ledger = new TransferLedger(transaction);
  for (const call of inExecutionOrder(transaction.instructions)) {
    if (call.parsed === null) continue;
    visit?.(call, ledger);
    TRANSFER_RULES[`${call.program} ${call.parsed.type}`]?.(ledger, call, call.parsed.info);
  }
  return ledger.finish();
}

/** Sees each decoded instruction, with the balances right before it. */
export type CallVisitor = (call: Instruction, balances: CurrentBalances) => void;

/** Records an instruction's transfers in the ledger. */
type TransferRule = (ledger: TransferLedger, call: Instruction, info: ParsedInfo) => void;

const transferSol =
  (source: string, destination: string, type?: TransferType): TransferRule =>
  (ledger, call, { lamports, ...accounts }) => {
    const [from, to, amount] = [asString(accounts[source]), asString(accounts[destination]), asBigInt(lamports)];
    if (from !== null && to !== null && amount !== null) ledger.moveSol(call, from, to, amount, type);
  };

/** Transfers all lamports of an account, whatever its balance is then. */
const transferAllSol =
  (source: string, destination: string): TransferRule =>
  (ledger, call, info) => {
    const [from, to] = [asString(info[source]), asString(info[destination])];
    if (from !== null && to !== null) ledger.moveSol(call, from, to, ledger.lamportsOf(from));
  };

const transferTokens =
  (type: TransferType, source: string | null, destination: string | null): TransferRule =>
  (ledger, call, { mint, amount, tokenAmount, feeAmount, ...accounts }) => {
    const sentAmount = asBigInt(amount) ?? tokenAmountOf(tokenAmount);
    const from = source === null ? null : asString(accounts[source]);
    const to = destination === null ? null : asString(accounts[destination]);
    const fee = tokenAmountOf(feeAmount);
    if (sentAmount !== null) ledger.moveTokens(call, type, { from, to, mint: asString(mint), amount: sentAmount, fee });
  };

/** Moves tokens between an account's balance and its hidden one. */
const moveConfidential =
  (type: TransferType, isDeposit: boolean): TransferRule =>
  (ledger, call, info) => {
    const [{ account, mint }, amount] = [confidentialAccountOf(info), asBigInt(info['amount'])];
    const [from, to] = isDeposit ? [account, null] : [null, account];
    if (amount !== null && account !== null) ledger.moveTokens(call, type, { from, to, mint, amount });
  };

/** Returns the amount of a node's token amount; null if there is none. */
function tokenAmountOf(tokenAmount: unknown): bigint | null {
  const { amount } = asObject(tokenAmount);
  return asBigInt(amount);
}

const tokenTransferRule = transferTokens('transfer', 'source', 'destination');
const tokenMintRule = transferTokens('mint', null, 'account');
const tokenBurnRule = transferTokens('burn', 'account', null);

/** Records a withdrawal of withheld fees. Its amount is in no instruction; it follows from the balances after. */
const withdrawWithheldRule: TransferRule = (ledger, call, { mint, feeRecipient }) =>
  ledger.moveTokens(call, 'withdrawWithheldFee', {
    from: null,
    to: asString(feeRecipient),
    mint: asString(mint),
    amount: 0n,
  });

const openAccountRule: TransferRule = (ledger, call) => {
  const account = initializedTokenAccount(call);
  if (account !== null) ledger.openAccount(call, account.account, account);
};

const expectAccountRule: TransferRule = (ledger, _, { account }) => {
  if (typeof account === 'string') ledger.expectAccount(account);
};

const TRANSFER_RULES: Readonly<Record<string, TransferRule>> = {
  'system transfer': transferSol('source', 'destination'),
  'system transferWithSeed': transferSol('source', 'destination'),
  'system createAccount': transferSol('source', 'newAccount', 'createAccount'),
  'system createAccountWithSeed': transferSol('source', 'newAccount', 'createAccount'),
  'system createAccountAllowPrefund': transferSol('source', 'newAccount', 'createAccount'),
  'system withdrawFromNonce': transferSol('nonceAccount', 'destination'),
  'stake split': transferSol('stakeAccount', 'newSplitAccount'),
  'stake withdraw': transferSol('stakeAccount', 'destination'),
  'stake moveStake': transferSol('source', 'destination'),
  'stake moveLamports': transferSol('source', 'destination'),
  'stake merge': transferAllSol('source', 'destination'),
  'vote withdraw': transferSol('voteAccount', 'destination'),
  'address-lookup-table closeLookupTable': transferAllSol('lookupTableAccount', 'recipient'),
  'bpf-upgradeable-loader close': transferAllSol('account', 'recipient'),
  'spl-associated-token-account create': expectAccountRule,
  'spl-associated-token-account createIdempotent': expectAccountRule,
  'spl-token initializeAccount': openAccountRule,
  'spl-token initializeAccount2': openAccountRule,
  'spl-token initializeAccount3': openAccountRule,
  'spl-token transfer': tokenTransferRule,
  'spl-token transferChecked': tokenTransferRule,
  'spl-token transferCheckedWithFee': tokenTransferRule,
  'spl-token mintTo': tokenMintRule,
  'spl-token mintToChecked': tokenMintRule,
  'spl-token burn': tokenBurnRule,
  'spl-token burnChecked': tokenBurnRule,
  'spl-token permissionedBurn': tokenBurnRule,
  'spl-token permissionedBurnChecked': tokenBurnRule,
  'spl-token depositConfidentialTransfer': moveConfidential('depositConfidential', true),
  'spl-token withdrawConfidentialTransfer': moveConfidential('withdrawConfidential', false),
  'spl-token withdrawWithheldTokensFromMint': withdrawWithheldRule,
  'spl-token withdrawWithheldTokensFromAccounts': withdrawWithheldRule,
  'spl-token syncNative': (ledger, call, { account }) => {
    if (typeof account === 'string') ledger.wrapSol(call, account);
  },
  'spl-token unwrapLamports': (ledger, call, { source, destination, amount }) => {
    if (typeof source === 'string' && typeof destination === 'string')
      ledger.unwrapSol(call, source, destination, asBigInt(amount));
  },
  'spl-token withdrawExcessLamports': (ledger, call, { source, destination }) => {
    if (typeof source === 'string' && typeof destination === 'string') ledger.withdrawExcess(call, source, destination);
  },
  'spl-token closeAccount': (ledger, call, { account, destination }) => {
    if (typeof account === 'string' && typeof destination === 'string') ledger.closeAccount(call, account, destination);
  },
  'spl-token setAuthority': (ledger, call, { account, authorityType, newAuthority }) => {
    if (typeof account === 'string' && authorityType === 'accountOwner')
      ledger.changeOwner(call, account, asString(newAuthority));
  },
};
