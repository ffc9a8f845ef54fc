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
import { rpcRequest } from '../support/rpc-request.ts';

export interface FundedWallet {
  readonly signer: KeyPairSigner;
  /** Sends and pays for one transaction. Resolves when the node has accepted it, before it is confirmed. */
  send(instructions: readonly Instruction[]): Promise<void>;
  /** Pays each of the accounts in one transaction. */
  pay(accounts: readonly string[], amount: number): Promise<void>;
}

const FUNDS = 1_000_000_000_000;

/** Opens a wallet and waits until the faucet's money is confirmed. */
export async function openFundedWallet(url: string): Promise<FundedWallet> {
  const signer = await generateKeyPairSigner();
  await rpcRequest(url, 'requestAirdrop', [signer.address, FUNDS]);
  for (;;) {
    const { value } = await rpcRequest<{ value: number }>(url, 'getBalance', [
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
  const { value } = await rpcRequest<{ value: { blockhash: string; lastValidBlockHeight: number } }>(
    url,
    'getLatestBlockhash',
    [{ commitment: 'confirmed' }],
  );
  const lifetime = {
    blockhash: value.blockhash as Parameters<typeof setTransactionMessageLifetimeUsingBlockhash>[0]['blockhash'], // a blockhash from the node
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
  await rpcRequest(url, 'sendTransaction', [
    getBase64EncodedWireTransaction(transaction),
    { encoding: 'base64', skipPreflight: true },
  ]);
}
