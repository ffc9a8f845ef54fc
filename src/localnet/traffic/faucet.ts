import { type Address, lamports } from '@solana/web3.js';
import { getTransferSolInstruction } from '@solana-program/system';
import { SYSTEM_PROGRAM } from '../../domain/well-known-addresses.ts';
import type { Chain } from '../bank/chain.ts';
import type { LandedTransaction } from '../bank/produced-block.ts';
import { TransactionRefused } from '../bank/svm-transaction-error.ts';
import { buildTransaction } from './build-transaction.ts';
import { deriveKeypair } from './demo-keypair.ts';

/** Source of lamports, which it sends in ordinary transactions. */
export interface Faucet {
  readonly address: Address;
  /** Sends lamports. Throws {@link TransactionRefused} when an equal request was just served or the faucet is empty. */
  airdrop(to: string, amount: bigint): LandedTransaction;
}

const FAUCET_LAMPORTS = 500_000_000_000_000_000n;

/** Creates a faucet on a chain that has no block yet. */
export function createFaucet(chain: Chain): Faucet {
  const payer = deriveKeypair('faucet');
  chain.setAccount(payer.address, {
    lamports: FAUCET_LAMPORTS,
    owner: SYSTEM_PROGRAM,
    executable: false,
    data: new Uint8Array(0),
  });
  return {
    address: payer.address,
    airdrop(to, amount) {
      const transfer = getTransferSolInstruction({
        source: payer,
        destination: to as Address, // the caller has decoded it
        amount: lamports(amount),
      });
      const { hash } = chain.latestBlockhash('processed');
      const landed = chain.send(buildTransaction({ payer, instructions: [transfer], blockhash: hash }));
      if (landed.error !== null) throw new TransactionRefused(landed.error, landed.logs);
      return landed;
    },
  };
}
