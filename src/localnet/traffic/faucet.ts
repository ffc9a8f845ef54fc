import { type Address, lamports } from '@solana/web3.js';
import { getTransferSolInstruction } from '@solana-program/system';
import { SYSTEM_PROGRAM } from '../../domain/well-known-addresses.ts';
import type { Landed } from '../bank/block.ts';
import type { Chain } from '../bank/chain.ts';
import { TransactionRefused } from '../bank/transaction-error.ts';
import { compose } from './compose.ts';
import { keypair } from './keypair.ts';

/** Gives lamports away, in ordinary transactions. */
export interface Faucet {
  readonly address: Address;
  /** Throws {@link TransactionRefused} when an equal request has just been served or the faucet is empty. */
  airdrop(to: string, amount: bigint): Landed;
}

const WEALTH = 500_000_000_000_000_000n;

/** Makes a faucet on a chain that is still being prepared. */
export function openFaucet(chain: Chain): Faucet {
  const payer = keypair('faucet');
  chain.put(payer.address, { lamports: WEALTH, owner: SYSTEM_PROGRAM, executable: false, data: new Uint8Array(0) });
  return {
    address: payer.address,
    airdrop(to, amount) {
      const transfer = getTransferSolInstruction({
        source: payer,
        destination: to as Address, // the caller has decoded it
        amount: lamports(amount),
      });
      const { hash } = chain.latestBlockhash('processed');
      const landed = chain.send(compose({ payer, instructions: [transfer], blockhash: hash }));
      if (landed.error !== null) throw new TransactionRefused(landed.error, landed.logs);
      return landed;
    },
  };
}
