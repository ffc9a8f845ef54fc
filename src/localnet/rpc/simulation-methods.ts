import type { SimulatedTransaction } from '../bank/bank.ts';
import { type TransactionError, TransactionRefused } from '../bank/svm-transaction-error.ts';
import { withBlockhash } from '../bank/wire-transaction.ts';
import { invalidParams } from '../encode/json-rpc-error.ts';
import { encodeInnerInstructions, encodeSimulation } from '../encode/ui-transaction.ts';
import { encodeAccount, readAccountView } from './account-view.ts';
import { type BankView, readBankView } from './bank-view.ts';
import { readAddress, readConfig, readList, readOptional } from './json-rpc-params.ts';
import { type MethodHandlers, method } from './method-handler.ts';
import { isSanitizeError, preflightFailure } from './refused-transaction.ts';
import { readTransaction } from './transaction-bytes.ts';

/** Each transaction is simulated on the newest state, whatever the commitment. */
export const SIMULATION_METHODS: MethodHandlers = {
  simulateTransaction: method(1, 1, (node, [transaction, options]) => {
    const { encoding, sigVerify, replaceRecentBlockhash, innerInstructions, accounts, ...rest } = readConfig(options);
    const sent = readTransaction(transaction, encoding);
    const bank = readBankView(node, rest);
    const replaces = replaceRecentBlockhash === true;
    if (replaces && sigVerify === true) {
      throw invalidParams('sigVerify may not be used with replaceRecentBlockhash');
    }
    const encodeAccounts = readOptional(accounts, (wanted) => readWantedAccounts(wanted, bank));
    const { hash, lastValidHeight } = node.chain.latestBlockhash(bank.commitment);
    const outcome = refusalOr(() =>
      node.chain.simulate(replaces ? withBlockhash(sent, hash) : sent, sigVerify === true),
    );
    const { error } = outcome;
    if (error !== null && isSanitizeError(error)) throw preflightFailure({ ...outcome, error });
    const ran = 'after' in outcome ? outcome : undefined;
    return bank.withContext({
      ...encodeSimulation(outcome),
      ...(encodeAccounts && { accounts: encodeAccounts(outcome) }),
      ...(innerInstructions === true && ran && { innerInstructions: encodeInnerInstructions(ran, 'jsonParsed') }),
      ...(replaces && { replacementBlockhash: { blockhash: hash, lastValidBlockHeight: lastValidHeight } }),
    });
  }),
};

/** What a simulation came to: a transaction that ran, or the reason for which it could not. */
type Outcome = SimulatedTransaction | { readonly error: TransactionError; readonly logs: readonly string[] };

function refusalOr(simulate: () => SimulatedTransaction): Outcome {
  try {
    return simulate();
  } catch (thrown) {
    if (thrown instanceof TransactionRefused) return thrown;
    throw thrown;
  }
}

/** Reads which accounts the answer must have as the transaction would leave them; each is null where it fails. */
function readWantedAccounts(wanted: unknown, bank: BankView): (outcome: Outcome) => readonly unknown[] {
  const { addresses, ...config } = readConfig(wanted);
  const view = readAccountView(config, 'base64', bank);
  if (view.encoding === 'binary' || view.encoding === 'base58') throw invalidParams('base58 encoding not supported');
  const keys = readList(addresses, Number.POSITIVE_INFINITY).map(readAddress);
  return (outcome) => {
    if (!('after' in outcome)) return keys.map(() => null);
    const { accountKeys, after, error } = outcome;
    if (keys.length > accountKeys.length) throw invalidParams(`Too many accounts provided; max ${accountKeys.length}`);
    return keys.map((key) => {
      const index = accountKeys.indexOf(key);
      const account = index < 0 ? bank.account(key) : after[index];
      return error === null ? encodeAccount(key, account, view) : null;
    });
  };
}
