import { type Address, lamports } from '@solana/web3.js';
import { getSetComputeUnitLimitInstruction } from '@solana-program/compute-budget';
import { getTransferSolInstruction } from '@solana-program/system';
import type { Chain } from '../bank/chain.ts';
import type { LandedTransaction } from '../bank/produced-block.ts';
import { systemAccount } from '../bank/svm-account.ts';
import { TransactionRefused } from '../bank/svm-transaction-error.ts';
import { buildTransaction } from './build-transaction.ts';
import { deriveKeypair } from './demo-keypair.ts';

/** Source of lamports, which it sends in ordinary transactions. */
export type Faucet = ReturnType<typeof createFaucet>;

const FAUCET_LAMPORTS = 500_000_000_000_000_000n;

/** The compute limit of the first repeated airdrop, far above what a transfer takes; the next one's is one more. */
const REPEATED_AIRDROP_UNITS = 10_000;

/** Creates a faucet on a chain that has no block yet. */
export function createFaucet(chain: Chain) {
  const payer = deriveKeypair('faucet');
  chain.setAccount(payer.address, systemAccount(FAUCET_LAMPORTS));
  /** Airdrops sent with the latest blockhash: without a difference an equal one would have the same signature. */
  const sent = { blockhash: '', counts: new Map<string, number>() };
  const countEqual = (airdrop: string, blockhash: string): number => {
    if (sent.blockhash !== blockhash) Object.assign(sent, { blockhash, counts: new Map() });
    const count = sent.counts.get(airdrop) ?? 0;
    sent.counts.set(airdrop, count + 1);
    return count;
  };
  return {
    address: payer.address,
    /** Sends lamports. Throws {@link TransactionRefused} when the faucet is empty. */
    airdrop(to: string, amount: bigint): LandedTransaction {
      const transfer = getTransferSolInstruction({
        source: payer,
        destination: to as Address, // the caller has decoded it
        amount: lamports(amount),
      });
      const { hash } = chain.latestBlockhash('processed');
      const equal = countEqual(`${to} ${amount}`, hash);
      const limits = equal === 0 ? [] : [getSetComputeUnitLimitInstruction({ units: REPEATED_AIRDROP_UNITS + equal })];
      const landed = chain.send(buildTransaction({ payer, instructions: [...limits, transfer], blockhash: hash }));
      if (landed.error !== null) throw new TransactionRefused(landed.error, landed.logs);
      return landed;
    },
  };
}
