import type { Address } from '@solana/web3.js';
import bs58 from 'bs58';
import type { Chain } from '../bank/chain.ts';
import { tokenAccountOf } from './associated-token-accounts.ts';
import type { Coin } from './demo-accounts.ts';
import type { Keypair } from './demo-keypair.ts';

/** Offsets in a token account and a mint, the same in both token programs. Amounts and supplies are u64. */
const [OWNER_OFFSET, AMOUNT_OFFSET, SUPPLY_OFFSET] = [32, 64, 36];

/** What an owner gets of a coin, in its smallest unit. */
export interface CoinShare {
  readonly owner: Keypair;
  readonly amount: bigint;
}

/**
 * Gives each owner an account like the one that the token program made for the first, and adds the shares to the supply:
 * a transaction for each owner is three quarters of what the start of a cluster costs.
 */
export function copyTokenAccount(chain: Chain, coin: Coin, first: Keypair, shares: readonly CoinShare[]): void {
  const write = (source: Address, target: Address, change: (data: Buffer) => void): void => {
    const account = chain.account(source, 'processed');
    if (account === undefined) throw new Error(`there is no account ${source} to copy`);
    const data = Buffer.from(account.data);
    change(data);
    chain.setAccount(target, { ...account, data });
  };
  for (const { owner, amount } of shares) {
    write(tokenAccountOf(coin, first), tokenAccountOf(coin, owner), (data) => {
      data.set(bs58.decode(owner.address), OWNER_OFFSET);
      data.writeBigUInt64LE(amount, AMOUNT_OFFSET);
    });
  }
  write(coin.mint.address, coin.mint.address, (data) => {
    const added = shares.reduce((sum, { amount }) => sum + amount, 0n);
    data.writeBigUInt64LE(data.readBigUInt64LE(SUPPLY_OFFSET) + added, SUPPLY_OFFSET);
  });
}
