import bs58 from 'bs58';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  LOOKUP_TABLE_PROGRAM,
  MEMO_PROGRAM,
  MEMO_V1_PROGRAM,
  STAKE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../shared/domain/well-known-addresses.ts';
import {
  type CompiledInstruction,
  decodeInstruction,
  type ParsedInfo,
  parsableProgramName,
} from '../../transactions/index.ts';
import type { LandedTransaction } from '../bank/produced-block.ts';
import type { InnerInstruction } from '../bank/svm.ts';
import type { TokenBalance } from '../bank/token-state.ts';
import { JsonRpcError } from './json-rpc-error.ts';
import { toUiTokenAmount } from './ui-token-amount.ts';

/** Transaction encodings, in the order in which a node lists them. */
export const TRANSACTION_ENCODINGS = ['binary', 'base64', 'base58', 'json', 'jsonParsed'] as const;
type TransactionEncoding = (typeof TRANSACTION_ENCODINGS)[number];

/** Encoding of transactions that a caller requests. */
export interface TransactionView {
  readonly encoding: TransactionEncoding;
  /** Highest version that the caller supports; undefined for legacy only, then the version is omitted. */
  readonly maxVersion: number | undefined;
  readonly rewards: boolean;
}

/** Encodes a transaction and its effects. Throws when the caller doesn't support its version. */
export function encodeUiTransaction(landed: LandedTransaction, view: TransactionView): object {
  const version = checkVersion(landed, view.maxVersion);
  return { meta: encodeMeta(landed, view), transaction: encodeContent(landed, view.encoding), version };
}

/** Encodes a transaction for `transactionDetails: "accounts"`: its account keys and balances. */
export function encodeUiTransactionAccounts(landed: LandedTransaction, view: TransactionView): object {
  const version = checkVersion(landed, view.maxVersion);
  const transaction = { accountKeys: encodeKeys(landed), signatures: landed.transaction.signatures };
  return { meta: encodeBalances(landed, view), transaction, version };
}

/** Returns the version to include; undefined for a caller that declared none. */
function checkVersion(
  { transaction }: LandedTransaction,
  maxVersion: number | undefined,
): 'legacy' | number | undefined {
  const { version } = transaction.message;
  if (version !== 'legacy' && (maxVersion === undefined || version > maxVersion))
    throw new JsonRpcError(
      -32015,
      `Transaction version (${version}) is not supported by the requesting client. ` +
        'Please try the request again with the following configuration parameter: ' +
        `"maxSupportedTransactionVersion": ${version}`,
    );
  return maxVersion === undefined ? undefined : version;
}

function encodeBalances(landed: LandedTransaction, { rewards }: TransactionView): object {
  return {
    err: landed.error,
    fee: landed.fee,
    preBalances: landed.preBalances,
    postBalances: landed.postBalances,
    preTokenBalances: landed.preTokenBalances.map(encodeTokenBalance),
    postTokenBalances: landed.postTokenBalances.map(encodeTokenBalance),
    rewards: rewards ? [] : undefined,
    status: landed.error === null ? { Ok: null } : { Err: landed.error },
  };
}

function encodeMeta(landed: LandedTransaction, view: TransactionView): object {
  return {
    ...encodeBalances(landed, view),
    rewards: view.rewards ? [] : null,
    computeUnitsConsumed: landed.computeUnits,
    costUnits: costUnitsOf(landed),
    innerInstructions: encodeInnerInstructions(landed, view.encoding),
    loadedAddresses: view.encoding === 'jsonParsed' ? undefined : landed.loadedAddresses,
    logMessages: landed.logs,
    returnData: encodeReturnData(landed),
  };
}

export function encodeInnerInstructions(landed: LandedTransaction, encoding: TransactionEncoding): object[] {
  const encodeInner = (call: InnerInstruction): object => encodeInstruction(landed, call, call.stackHeight, encoding);
  return landed.innerInstructions.flatMap((calls, index) =>
    calls.length === 0 ? [] : [{ index, instructions: calls.map(encodeInner) }],
  );
}

const encodeReturnData = ({ returnData }: Partial<Pick<LandedTransaction, 'returnData'>>): object | undefined =>
  returnData && {
    programId: returnData.program,
    data: [Buffer.from(returnData.data).toString('base64'), 'base64'],
  };

/** What is known of a transaction that was simulated, or could not be. */
export type SimulationOutcome = Pick<LandedTransaction, 'error' | 'logs'> & {
  readonly [K in keyof LandedTransaction]?: LandedTransaction[K] | undefined;
};

/**
 * Encodes what a transaction would do: the members of agave's `RpcSimulateTransactionResult` but for what the caller requests
 * by name. The fee is null where none would be charged, and the size of the loaded accounts is not known here.
 */
export function encodeSimulation(outcome: SimulationOutcome): object {
  const { error: err, logs, computeUnits = 0n, fee } = outcome;
  return {
    accounts: null,
    err,
    fee: fee || null,
    innerInstructions: null,
    loadedAccountsDataSize: null,
    loadedAddresses: outcome.loadedAddresses ?? null,
    logs,
    postBalances: outcome.postBalances ?? null,
    postTokenBalances: outcome.postTokenBalances?.map(encodeTokenBalance) ?? null,
    preBalances: outcome.preBalances ?? null,
    preTokenBalances: outcome.preTokenBalances?.map(encodeTokenBalance) ?? null,
    replacementBlockhash: null,
    returnData: encodeReturnData(outcome) ?? null,
    unitsConsumed: computeUnits,
  };
}

const SIGNATURE_COST = 720n;
const WRITE_LOCK_COST = 300n;
const DATA_BYTES_PER_UNIT = 4;
/** Cost of a page of loaded account data; a node counts pages, here each transaction loads one. */
const LOADED_PAGE_COST = 8n;

/** Returns the cost units of a transaction by the node's cost model, which block producers use. */
function costUnitsOf({ transaction, writable, computeUnits }: LandedTransaction): bigint {
  const { signatures, message } = transaction;
  const dataBytes = message.instructions.reduce((bytes, { data }) => bytes + data.length, 0);
  const locks = BigInt(writable.filter(Boolean).length);
  const perTransaction = SIGNATURE_COST * BigInt(signatures.length) + WRITE_LOCK_COST * locks + LOADED_PAGE_COST;
  return computeUnits + perTransaction + BigInt(Math.floor(dataBytes / DATA_BYTES_PER_UNIT));
}

function encodeContent(landed: LandedTransaction, encoding: TransactionEncoding): unknown {
  const { bytes, message, signatures } = landed.transaction;
  if (encoding === 'binary') return bs58.encode(bytes);
  if (encoding === 'base58') return [bs58.encode(bytes), 'base58'];
  if (encoding === 'base64') return [Buffer.from(bytes).toString('base64'), 'base64'];
  const { header, addressTableLookups, instructions, recentBlockhash } = message;
  const parsed = encoding === 'jsonParsed';
  return {
    message: {
      accountKeys: parsed ? encodeKeys(landed) : message.accountKeys,
      addressTableLookups: message.version === 'legacy' ? undefined : addressTableLookups,
      header: parsed ? undefined : header,
      instructions: instructions.map((instruction) => encodeInstruction(landed, instruction, 1, encoding)),
      recentBlockhash,
    },
    signatures,
  };
}

const encodeKeys = ({ accountKeys, writable, transaction }: LandedTransaction): object[] =>
  accountKeys.map((pubkey, index) => ({
    pubkey,
    writable: writable[index],
    signer: index < transaction.message.header.numRequiredSignatures,
    source: index < transaction.message.accountKeys.length ? 'transaction' : 'lookupTable',
  }));

function encodeInstruction(
  { accountKeys }: LandedTransaction,
  { programIdIndex, accounts, data }: CompiledInstruction,
  stackHeight: number,
  encoding: TransactionEncoding,
): object {
  if (encoding !== 'jsonParsed') {
    return { programIdIndex, accounts, data: bs58.encode(data), stackHeight };
  }
  const address = (index: number): string => accountKeys[index] ?? '';
  return encodeParsedInstruction({
    programId: address(programIdIndex),
    accounts: accounts.map(address),
    data,
    stackHeight,
  });
}

/** Encodes a token balance. In the ledger, unlike in accounts, a node writes a `uiAmount` of zero as null. */
const encodeTokenBalance = ({ accountIndex, mint, owner, program, amount, decimals }: TokenBalance): object => ({
  accountIndex,
  mint,
  uiTokenAmount: { ...toUiTokenAmount(amount, { decimals }), ...(amount === 0n ? { uiAmount: null } : {}) },
  owner,
  programId: program,
});

/** An instruction with addresses instead of account indices. */
interface ResolvedInstruction {
  readonly programId: string;
  readonly accounts: readonly string[];
  readonly data: Uint8Array;
  readonly stackHeight: number;
}

/** Those whose instructions are parsed. A node leaves others raw that could be, and parses votes and loaders, too. */
const PARSED_PROGRAMS: ReadonlySet<string> = new Set([
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
  TOKEN_2022_PROGRAM,
  ASSOCIATED_TOKEN_PROGRAM,
  LOOKUP_TABLE_PROGRAM,
  STAKE_PROGRAM,
  MEMO_PROGRAM,
  MEMO_V1_PROGRAM,
]);

/** Encodes an instruction for `jsonParsed`: parsed where its program is known, else with raw data. */
export function encodeParsedInstruction({ programId, accounts, data, stackHeight }: ResolvedInstruction): ParsedInfo {
  const decoded = PARSED_PROGRAMS.has(programId) ? decodeInstruction(programId, accounts, data, toUiTokenAmount) : null;
  if (decoded === null) return { programId, accounts, data: bs58.encode(data), stackHeight };
  const parsed = decoded.type === 'memo' ? decoded.info['memo'] : decoded; // a node encodes a memo as text alone
  return { program: parsableProgramName(programId), programId, parsed, stackHeight };
}
