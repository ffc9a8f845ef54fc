import {
  address,
  appendTransactionMessageInstructions,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  type KeyPairSigner,
  lamports,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/web3.js';
import { getTransferSolInstruction } from '@solana-program/system';

/** Asks a node directly, past any gateway. Every number below 2^53 is exact, and the wallet's all are. */
export async function ask<T>(url: string, method: string, params: readonly unknown[] = []): Promise<T> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const { result, error } = (await response.json()) as { readonly result: T; readonly error?: unknown };
  if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
  return result;
}

/** Somebody with money on a real node. */
export interface Wallet {
  readonly address: string;
  /** Pays each of the accounts in one transaction. Resolves when the node has taken it, not when it is confirmed. */
  pay(accounts: readonly string[], amount: number): Promise<void>;
}

const FUNDS = 1_000_000_000_000;

/** Opens a wallet and waits until the faucet's money is confirmed. */
export async function openWallet(url: string): Promise<Wallet> {
  const signer = await generateKeyPairSigner();
  await ask(url, 'requestAirdrop', [signer.address, FUNDS]);
  for (;;) {
    const { value } = await ask<{ value: number }>(url, 'getBalance', [signer.address, { commitment: 'confirmed' }]);
    if (value === FUNDS) break;
  }
  return { address: signer.address, pay: (accounts, amount) => pay(url, signer, accounts, amount) };
}

async function pay(url: string, signer: KeyPairSigner, accounts: readonly string[], amount: number): Promise<void> {
  const { value } = await ask<{ value: { blockhash: string; lastValidBlockHeight: number } }>(
    url,
    'getLatestBlockhash',
    [{ commitment: 'confirmed' }],
  );
  const lifetime = {
    blockhash: value.blockhash as Parameters<typeof setTransactionMessageLifetimeUsingBlockhash>[0]['blockhash'], // a node's own
    lastValidBlockHeight: BigInt(value.lastValidBlockHeight),
  };
  const transfers = accounts.map((to, i) =>
    getTransferSolInstruction({ source: signer, destination: address(to), amount: lamports(BigInt(amount + i)) }),
  );
  const transaction = await signTransactionMessageWithSigners(
    pipe(
      createTransactionMessage({ version: 0 }),
      (message) => setTransactionMessageFeePayerSigner(signer, message),
      (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
      (message) => appendTransactionMessageInstructions(transfers, message),
    ),
  );
  await ask(url, 'sendTransaction', [
    getBase64EncodedWireTransaction(transaction),
    { encoding: 'base64', skipPreflight: true },
  ]);
}
