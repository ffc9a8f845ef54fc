import bs58 from 'bs58';
import type { Landed } from '../bank/block.ts';
import type { InnerInstruction } from '../bank/svm.ts';
import type { TokenBalance } from '../bank/token-balance.ts';
import type { Instruction } from '../bank/wire-transaction.ts';
import { costUnits } from './cost-units.ts';
import { parseInstruction } from './instruction.ts';
import { unsupportedVersion } from './node-error.ts';
import { tokenAmount } from './token-amount.ts';

/** In the order in which a node lists them. */
export const TRANSACTION_ENCODINGS = ['binary', 'base64', 'base58', 'json', 'jsonParsed'] as const;
type TransactionEncoding = (typeof TRANSACTION_ENCODINGS)[number];

/** How a caller wants to see transactions. */
export interface TransactionView {
  readonly encoding: TransactionEncoding;
  /** Undefined when the caller knows legacy transactions only, and no versions. */
  readonly maxVersion: number | undefined;
  readonly rewards: boolean;
}

/** A transaction and what it did. Throws when its version is above what the caller knows. */
export function uiTransaction(landed: Landed, view: TransactionView): object {
  const version = checkedVersion(landed, view.maxVersion);
  return { meta: uiMeta(landed, view), transaction: encoded(landed, view.encoding), version };
}

/** A transaction as `transactionDetails: "accounts"` shows it: who took part, and how balances moved. */
export function uiTransactionAccounts(landed: Landed, view: TransactionView): object {
  const version = checkedVersion(landed, view.maxVersion);
  const transaction = { accountKeys: uiKeys(landed), signatures: landed.transaction.signatures };
  return { meta: moved(landed, view), transaction, version };
}

/** What to say of the version: nothing to a caller who knows none. */
function checkedVersion({ transaction }: Landed, maxVersion: number | undefined): 'legacy' | number | undefined {
  const { version } = transaction.message;
  if (version !== 'legacy' && (maxVersion === undefined || version > maxVersion)) throw unsupportedVersion(version);
  return maxVersion === undefined ? undefined : version;
}

function moved(landed: Landed, { rewards }: TransactionView): object {
  return {
    err: landed.error,
    fee: landed.fee,
    preBalances: landed.preBalances,
    postBalances: landed.postBalances,
    preTokenBalances: landed.preTokenBalances.map(uiTokenBalance),
    postTokenBalances: landed.postTokenBalances.map(uiTokenBalance),
    rewards: rewards ? [] : undefined,
    status: landed.error === null ? { Ok: null } : { Err: landed.error },
  };
}

function uiMeta(landed: Landed, view: TransactionView): object {
  const { returnData } = landed;
  const show = (call: InnerInstruction): object => uiInstruction(landed, call, call.stackHeight, view.encoding);
  return {
    ...moved(landed, view),
    computeUnitsConsumed: landed.computeUnits,
    costUnits: costUnits(landed),
    innerInstructions: landed.inner.flatMap((calls, index) =>
      calls.length === 0 ? [] : [{ index, instructions: calls.map(show) }],
    ),
    loadedAddresses: view.encoding === 'jsonParsed' ? undefined : landed.loaded,
    logMessages: landed.logs,
    returnData: returnData && {
      programId: returnData.program,
      data: [Buffer.from(returnData.data).toString('base64'), 'base64'],
    },
  };
}

function encoded(landed: Landed, encoding: TransactionEncoding): unknown {
  const { bytes, message, signatures } = landed.transaction;
  if (encoding === 'binary') return bs58.encode(bytes);
  if (encoding === 'base58') return [bs58.encode(bytes), 'base58'];
  if (encoding === 'base64') return [Buffer.from(bytes).toString('base64'), 'base64'];
  const { header, lookups, instructions, recentBlockhash } = message;
  const parsed = encoding === 'jsonParsed';
  return {
    message: {
      accountKeys: parsed ? uiKeys(landed) : message.staticKeys,
      addressTableLookups: message.version === 'legacy' ? undefined : lookups.map(uiLookup),
      header: parsed
        ? undefined
        : {
            numRequiredSignatures: header.numSignerAccounts,
            numReadonlySignedAccounts: header.numReadonlySignerAccounts,
            numReadonlyUnsignedAccounts: header.numReadonlyNonSignerAccounts,
          },
      instructions: instructions.map((instruction) => uiInstruction(landed, instruction, 1, encoding)),
      recentBlockhash,
    },
    signatures,
  };
}

const uiLookup = ({ table, writable, readonly }: Landed['transaction']['message']['lookups'][number]): object => ({
  accountKey: table,
  writableIndexes: writable,
  readonlyIndexes: readonly,
});

const uiKeys = ({ keys, writable, transaction }: Landed): object[] =>
  keys.map((pubkey, index) => ({
    pubkey,
    writable: writable[index],
    signer: index < transaction.message.header.numSignerAccounts,
    source: index < transaction.message.staticKeys.length ? 'transaction' : 'lookupTable',
  }));

function uiInstruction(
  { keys }: Landed,
  { programIndex, accounts, data }: Instruction,
  stackHeight: number,
  encoding: TransactionEncoding,
): object {
  if (encoding !== 'jsonParsed') {
    return { programIdIndex: programIndex, accounts, data: bs58.encode(data), stackHeight };
  }
  const address = (index: number): string => keys[index] ?? '';
  return parseInstruction({ programId: address(programIndex), accounts: accounts.map(address), data, stackHeight });
}

/** In the ledger, unlike in accounts, a node keeps no `uiAmount` of zero: it comes out as null. */
const uiTokenBalance = ({ accountIndex, mint, owner, program, amount, decimals }: TokenBalance): object => ({
  accountIndex,
  mint,
  uiTokenAmount: { ...tokenAmount(amount, { decimals }), ...(amount === 0n ? { uiAmount: null } : {}) },
  owner,
  programId: program,
});
