import type { Address, Instruction } from '@solana/web3.js';
import {
  getApproveCheckedInstruction,
  getBurnCheckedInstruction,
  getMintToCheckedInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token';
import { readTokenAccount } from '../bank/token-state.ts';
import { COINS, type Coin, DOLLAR, GOLD, POOL, TREASURY, WALLETS } from './demo-accounts.ts';
import type { Keypair } from './demo-keypair.ts';
import { pickTwoWallets, type Scenario } from './scenario.ts';
import { unitsPerCoin } from './traffic-setup.ts';

/** Maximum of hundredths of a coin in one transaction. */
const MAX_HUNDREDTHS = 500;

const rawAmount = (coin: Coin, hundredths: bigint): bigint => (hundredths * unitsPerCoin(coin)) / 100n;

export const transferCoins = (
  coin: Coin,
  source: Address,
  destination: Address,
  authority: Keypair,
  amount: bigint,
): Instruction =>
  getTransferCheckedInstruction(
    { source, mint: coin.mint.address, destination, authority, amount, decimals: coin.decimals },
    { programAddress: coin.program },
  );

/** Transfers some of a coin from one wallet to another. */
export const payToken: Scenario = ({ rng, tokenAccountOf }) => {
  const [payer, payee] = pickTwoWallets(rng);
  const coin = rng.pick(COINS);
  const amount = rawAmount(coin, rng.amount(MAX_HUNDREDTHS));
  return {
    payer,
    instructions: [transferCoins(coin, tokenAccountOf(coin, payer), tokenAccountOf(coin, payee), payer, amount)],
  };
};

/** Swaps dollars for gold or gold for dollars, at the price that keeps the product of the vaults. */
export const swap: Scenario = ({ rng, tokenAccountOf, account }) => {
  const payer = rng.pick(WALLETS);
  const [give, get] = rng.intBelow(2) === 0 ? [DOLLAR, GOLD] : [GOLD, DOLLAR];
  const [vaultIn = 0n, vaultOut = 0n] = [give, get].map(
    (coin) => readTokenAccount(account(tokenAccountOf(coin, POOL)))?.amount,
  );
  const amountIn = vaultIn / (1000n + rng.amount(100_000)) + 1n;
  const amountOut = (vaultOut * amountIn * 997n) / ((vaultIn + amountIn) * 1000n);
  return {
    payer,
    instructions: [
      transferCoins(give, tokenAccountOf(give, payer), tokenAccountOf(give, POOL), payer, amountIn),
      transferCoins(get, tokenAccountOf(get, POOL), tokenAccountOf(get, payer), POOL, amountOut),
    ],
  };
};

export const mintCoins: Scenario = ({ rng, tokenAccountOf }) => {
  const coin = rng.pick(COINS);
  const { program, decimals } = coin;
  const amount = rawAmount(coin, rng.amount(MAX_HUNDREDTHS));
  const token = tokenAccountOf(coin, rng.pick(WALLETS));
  const instruction = getMintToCheckedInstruction(
    { mint: coin.mint.address, token, mintAuthority: TREASURY, amount, decimals },
    { programAddress: program },
  );
  return { payer: TREASURY, instructions: [instruction] };
};

export const burnCoins: Scenario = ({ rng, tokenAccountOf }) => {
  const payer = rng.pick(WALLETS);
  const coin = rng.pick(COINS);
  const { program, decimals } = coin;
  const instruction = getBurnCheckedInstruction(
    {
      account: tokenAccountOf(coin, payer),
      mint: coin.mint.address,
      authority: payer,
      amount: rawAmount(coin, rng.amount(MAX_HUNDREDTHS)),
      decimals,
    },
    { programAddress: program },
  );
  return { payer, instructions: [instruction] };
};

/** Approves another wallet as a delegate, or spends as the delegate what was approved. */
export const approveOrSpend: Scenario = ({ rng, tokenAccountOf, account }) => {
  const [owner, other] = pickTwoWallets(rng);
  const coin = rng.pick(COINS);
  const source = tokenAccountOf(coin, owner);
  const { delegate, delegatedAmount = 0n } = { ...readTokenAccount(account(source)) };
  const spender = WALLETS.find(({ address }) => address === delegate);
  if (spender !== undefined) {
    return {
      payer: spender,
      instructions: [transferCoins(coin, source, tokenAccountOf(coin, spender), spender, delegatedAmount)],
    };
  }
  const { program, decimals, mint } = coin;
  const amount = rawAmount(coin, rng.amount(MAX_HUNDREDTHS));
  const instruction = getApproveCheckedInstruction(
    { source, mint: mint.address, delegate: other.address, owner, amount, decimals },
    { programAddress: program },
  );
  return { payer: owner, instructions: [instruction] };
};
