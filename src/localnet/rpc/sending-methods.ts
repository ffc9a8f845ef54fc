import bs58 from 'bs58';
import { type TransactionError, TransactionRefused } from '../bank/svm-transaction-error.ts';
import { checkEncoding, decodeMessage } from '../bank/wire-transaction.ts';
import { invalidParams, JsonRpcError } from '../encode/json-rpc-error.ts';
import { readBankView } from './bank-view.ts';
import { readAddress, readConfig, readExactU64, readOptional, readString, readVariant } from './json-rpc-params.ts';
import { type MethodHandlers, method, type NodeContext } from './method-handler.ts';

/** Maximum size of a transaction: what fits into a packet. */
const MAX_TRANSACTION_BYTES = 1232;
const ENCODINGS = ['base58', 'base64'] as const;

/** RPC methods that change the chain or price a change. The gateway calls none of them; users of the cluster may. */
export const SENDING_METHODS: MethodHandlers = {
  sendTransaction: method(1, 1, (node, [transaction, options]) => {
    const { encoding, skipPreflight } = readConfig(options);
    const bytes = decodeBytes(
      readString(transaction),
      readOptional(encoding, (name) => readVariant(name, ENCODINGS)) ?? 'base58',
    );
    withRefusals(() => checkEncoding(bytes));
    if (skipPreflight !== true) runPreflight(node, bytes);
    return withRefusals(() => node.chain.send(bytes).signature);
  }),

  requestAirdrop: method(2, 1, ({ faucet }, [key, lamports]) => {
    const wallet = readAddress(key);
    const amount = readExactU64(lamports);
    return withRefusals(() => faucet.airdrop(wallet, amount).signature);
  }),

  getFeeForMessage: method(1, 1, (node, [message, options]) => {
    const bytes = decodeBytes(readString(message), 'base64');
    const bank = readBankView(node, readConfig(options));
    return bank.withContext(withRefusals(() => node.chain.feeForMessage(decodeMessage(bytes)) ?? null));
  }),
};

function decodeBytes(text: string, encoding: (typeof ENCODINGS)[number]): Uint8Array {
  const bytes =
    encoding === 'base64' ? decodeBase64(text) : bs58.decodeUnsafe(text.slice(0, 2 * MAX_TRANSACTION_BYTES));
  if (bytes === undefined) throw invalidParams(`invalid ${encoding} encoding`);
  if (bytes.length <= MAX_TRANSACTION_BYTES) return bytes;
  throw invalidParams(
    `decoded solana_transaction::versioned::VersionedTransaction too large: ${bytes.length} bytes ` +
      `(max: ${MAX_TRANSACTION_BYTES} bytes)`,
  );
}

const decodeBase64 = (text: string): Uint8Array | undefined =>
  /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0 ? Buffer.from(text, 'base64') : undefined;

/** Simulates a transaction before it is sent, so that one that would fail costs nothing. */
function runPreflight({ chain }: NodeContext, bytes: Uint8Array): void {
  const { error, logs, computeUnits } = withRefusals(() => chain.simulate(bytes));
  if (error !== null) throw toJsonRpcError(error, logs, computeUnits);
}

/** Converts the chain's refusal of a transaction to the JSON-RPC error of a node. */
function withRefusals<T>(work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    if (!(thrown instanceof TransactionRefused)) throw thrown;
    throw toJsonRpcError(thrown.error, thrown.logs);
  }
}

function toJsonRpcError(error: TransactionError, logs: readonly string[], computeUnits = 0n): JsonRpcError {
  if (error === 'SignatureFailure') return new JsonRpcError(-32003, 'Transaction signature verification failure');
  if (error === 'SanitizeFailure') return invalidParams('invalid transaction: failed to deserialize');
  return new JsonRpcError(-32002, `Transaction simulation failed: ${describeError(error)}`, {
    accounts: null,
    err: error,
    innerInstructions: null,
    logs,
    replacementBlockhash: null,
    returnData: null,
    unitsConsumed: computeUnits,
  });
}

/** Describes an error in words: `BlockhashNotFound` is "Blockhash not found". */
function describeError(error: TransactionError): string {
  if (error === 'AlreadyProcessed') return 'This transaction has already been processed';
  if (typeof error === 'string') return toSentence(error);
  const [variant = '', detail] = Object.entries(error)[0] ?? [];
  if (variant !== 'InstructionError' || !Array.isArray(detail)) return toSentence(variant);
  const [index, cause] = detail;
  const custom: unknown = typeof cause === 'object' ? cause?.Custom : undefined;
  const why = typeof custom === 'number' ? `custom program error: 0x${custom.toString(16)}` : toSentence(`${cause}`);
  return `Error processing Instruction ${index}: ${why}`;
}

const toSentence = (name: string): string =>
  name[0] + name.slice(1).replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
