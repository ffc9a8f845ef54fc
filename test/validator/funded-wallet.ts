import {
  address,
  appendTransactionMessageInstructions,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  type Instruction,
  type KeyPairSigner,
  lamports,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/web3.js';
import { getTransferSolInstruction } from '@solana-program/system';

/** A node's refusal. */
export class RpcRefusal extends Error {
  readonly code: number;

  constructor(method: string, { code, message }: { readonly code: number; readonly message: string }) {
    super(`${method}: ${code} ${message}`);
    this.code = code;
  }
}

/** Asks a node directly, past any gateway. Every number below 2^53 is exact, and the wallet's all are. */
export async function requestNode<T>(url: string, method: string, params: readonly unknown[] = []): Promise<T> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  // A node's answer to a request of its own kind.
  const { result, error } = (await response.json()) as {
    readonly result: T;
    readonly error?: { readonly code: number; readonly message: string };
  };
  if (error !== undefined) throw new RpcRefusal(method, error);
  return result;
}

/** Somebody with money on a real node. */
export interface FundedWallet {
  readonly signer: KeyPairSigner;
  /** Sends one transaction, and pays for it. Resolves when the node has taken it, not when it is confirmed. */
  send(instructions: readonly Instruction[]): Promise<void>;
  /** Pays each of the accounts in one transaction. */
  pay(accounts: readonly string[], amount: number): Promise<void>;
}

const FUNDS = 1_000_000_000_000;

/** Opens a wallet and waits until the faucet's money is confirmed. */
export async function openFundedWallet(url: string): Promise<FundedWallet> {
  const signer = await generateKeyPairSigner();
  await requestNode(url, 'requestAirdrop', [signer.address, FUNDS]);
  for (;;) {
    const { value } = await requestNode<{ value: number }>(url, 'getBalance', [
      signer.address,
      { commitment: 'confirmed' },
    ]);
    if (value === FUNDS) break;
  }
  const wallet: FundedWallet = {
    signer,
    send: (instructions) => send(url, signer, instructions),
    pay: (accounts, amount) =>
      wallet.send(
        accounts.map((to, i) =>
          getTransferSolInstruction({ source: signer, destination: address(to), amount: lamports(BigInt(amount + i)) }),
        ),
      ),
  };
  return wallet;
}

async function send(url: string, signer: KeyPairSigner, instructions: readonly Instruction[]): Promise<void> {
  const { value } = await requestNode<{ value: { blockhash: string; lastValidBlockHeight: number } }>(
    url,
    'getLatestBlockhash',
    [{ commitment: 'confirmed' }],
  );
  const lifetime = {
    blockhash: value.blockhash as Parameters<typeof setTransactionMessageLifetimeUsingBlockhash>[0]['blockhash'], // a node's own
    lastValidBlockHeight: BigInt(value.lastValidBlockHeight),
  };
  const transaction = await signTransactionMessageWithSigners(
    pipe(
      createTransactionMessage({ version: 0 }),
      (message) => setTransactionMessageFeePayerSigner(signer, message),
      (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
      (message) => appendTransactionMessageInstructions(instructions, message),
    ),
  );
  await requestNode(url, 'sendTransaction', [
    getBase64EncodedWireTransaction(transaction),
    { encoding: 'base64', skipPreflight: true },
  ]);
}
