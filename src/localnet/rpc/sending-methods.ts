import { TransactionRefused } from '../bank/svm-transaction-error.ts';
import { decodeMessage, decodeTransaction } from '../bank/wire-transaction.ts';
import { readBankView } from './bank-view.ts';
import { readAddress, readConfig, readExactU64 } from './json-rpc-params.ts';
import { type MethodHandlers, method, type NodeContext } from './method-handler.ts';
import { isSanitizeError, preflightFailure, withRefusals } from './refused-transaction.ts';
import { readMessage, readTransaction } from './transaction-bytes.ts';

/** RPC methods that change the chain or price a change. The gateway calls none of them; users of the cluster may. */
export const SENDING_METHODS: MethodHandlers = {
  sendTransaction: method(1, 1, (node, [transaction, options]) => {
    const { encoding, skipPreflight, preflightCommitment, minContextSlot } = readConfig(options);
    const bytes = readTransaction(transaction, encoding);
    const skips = skipPreflight === true;
    readBankView(node, { commitment: skips ? 'processed' : preflightCommitment, minContextSlot }); // for its minContextSlot
    if (!skips) runPreflight(node, bytes);
    return withRefusals(() => submit(node, bytes));
  }),

  requestAirdrop: method(2, 1, ({ faucet }, [key, lamports]) => {
    const wallet = readAddress(key);
    const amount = readExactU64(lamports);
    return withRefusals(() => faucet.airdrop(wallet, amount).signature);
  }),

  getFeeForMessage: method(1, 1, (node, [message, options]) => {
    const bytes = readMessage(message);
    const bank = readBankView(node, options);
    return bank.withContext(withRefusals(() => node.chain.feeForMessage(decodeMessage(bytes)) ?? null));
  }),
};

/** Simulates a transaction before it is sent, so that one that would fail costs nothing. */
function runPreflight({ chain }: NodeContext, bytes: Uint8Array): void {
  const { error, ...simulated } = withRefusals(() => chain.simulate(bytes));
  if (error !== null) throw preflightFailure({ ...simulated, error });
}

/** Sends a transaction. A node knows nothing of what the leader drops: it answers with the signature then, too. */
function submit({ chain }: NodeContext, bytes: Uint8Array): string | undefined {
  const { signatures } = decodeTransaction(bytes);
  try {
    chain.send(bytes);
  } catch (thrown) {
    if (!(thrown instanceof TransactionRefused) || isSanitizeError(thrown.error)) throw thrown;
  }
  return signatures[0];
}
