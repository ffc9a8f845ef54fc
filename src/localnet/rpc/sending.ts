import bs58 from 'bs58';
import { type TransactionError, TransactionRefused } from '../bank/transaction-error.ts';
import { readMessage } from '../bank/wire-transaction.ts';
import { invalidParams, type NodeError, preflightFailure, signatureFailure } from '../encode/node-error.ts';
import { bankView } from './bank-view.ts';
import type { Methods, Node } from './method.ts';
import { address, config, exactU64, optional, string, variant } from './params.ts';

/** What a packet holds, and so a transaction at most. */
const MAX_TRANSACTION_BYTES = 1232;
const ENCODINGS = ['base58', 'base64'] as const;

/** What changes the chain, and what it would cost. A gateway asks none of these; whoever plays with the cluster may. */
export const SENDING_METHODS: Methods = {
  sendTransaction: {
    required: 1,
    optional: 1,
    answer(node, [transaction, options]) {
      const { encoding, skipPreflight } = config(options);
      const bytes = decoded(string(transaction), optional(encoding, (name) => variant(name, ENCODINGS)) ?? 'base58');
      if (skipPreflight !== true) preflight(node, bytes);
      return refusing(() => node.chain.send(bytes).signature);
    },
  },

  requestAirdrop: {
    required: 2,
    optional: 1,
    answer({ faucet }, [key, lamports]) {
      const wallet = address(key);
      const amount = exactU64(lamports);
      return refusing(() => faucet.airdrop(wallet, amount).signature);
    },
  },

  getFeeForMessage: {
    required: 1,
    optional: 1,
    answer(node, [message, options]) {
      const bytes = decoded(string(message), 'base64');
      const bank = bankView(node, config(options));
      return bank.withContext(refusing(() => node.chain.feeFor(readMessage(bytes)) ?? null));
    },
  },
};

function decoded(text: string, encoding: (typeof ENCODINGS)[number]): Uint8Array {
  const bytes = encoding === 'base64' ? base64(text) : bs58.decodeUnsafe(text.slice(0, 2 * MAX_TRANSACTION_BYTES));
  if (bytes === undefined) throw invalidParams(`invalid ${encoding} encoding`);
  if (bytes.length <= MAX_TRANSACTION_BYTES) return bytes;
  throw invalidParams(
    `decoded solana_transaction::versioned::VersionedTransaction too large: ${bytes.length} bytes ` +
      `(max: ${MAX_TRANSACTION_BYTES} bytes)`,
  );
}

const base64 = (text: string): Uint8Array | undefined =>
  /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0 ? Buffer.from(text, 'base64') : undefined;

/** Tries a transaction before it is sent, so that one that would fail costs nothing. */
function preflight({ chain }: Node, bytes: Uint8Array): void {
  const { error, logs, computeUnits } = refusing(() => chain.simulate(bytes));
  if (error !== null) throw refusal(error, logs, computeUnits);
}

/** Puts it in a node's words when the chain takes no transaction. */
function refusing<T>(work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    if (!(thrown instanceof TransactionRefused)) throw thrown;
    throw refusal(thrown.error, thrown.logs);
  }
}

function refusal(error: TransactionError, logs: readonly string[], computeUnits = 0n): NodeError {
  if (error === 'SignatureFailure') return signatureFailure();
  if (error === 'SanitizeFailure') return invalidParams('invalid transaction: failed to deserialize');
  return preflightFailure(reason(error), outcome(error, logs, computeUnits));
}

const outcome = (err: TransactionError, logs: readonly string[], unitsConsumed: bigint): object => ({
  accounts: null,
  err,
  innerInstructions: null,
  logs,
  replacementBlockhash: null,
  returnData: null,
  unitsConsumed,
});

/** An error in words: `BlockhashNotFound` is "Blockhash not found". */
function reason(error: TransactionError): string {
  if (error === 'AlreadyProcessed') return 'This transaction has already been processed';
  if (typeof error === 'string') return sentence(error);
  const [variant = '', detail] = Object.entries(error)[0] ?? [];
  if (variant !== 'InstructionError' || !Array.isArray(detail)) return sentence(variant);
  const [index, cause] = detail;
  const custom: unknown = typeof cause === 'object' ? cause?.Custom : undefined;
  const why = typeof custom === 'number' ? `custom program error: 0x${custom.toString(16)}` : sentence(`${cause}`);
  return `Error processing Instruction ${index}: ${why}`;
}

const sentence = (name: string): string =>
  name[0] + name.slice(1).replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
