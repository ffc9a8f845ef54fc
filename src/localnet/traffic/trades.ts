import type { Address, Instruction } from '@solana/web3.js';
import {
  getApproveCheckedInstruction,
  getBurnCheckedInstruction,
  getMintToCheckedInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token';
import bs58 from 'bs58';
import type { Account } from '../bank/account.ts';
import { COINS, type Coin, DOLLAR, GOLD, POOL, TREASURY, WALLETS } from './cast.ts';
import type { Keypair } from './keypair.ts';
import { pair, type Scene } from './scene.ts';
import { unit } from './stage.ts';

/** The most coins that change hands at once. */
const MAX_COINS = 500;

const sum = (coin: Coin, coins: bigint): bigint => (coins * unit(coin)) / 100n;

const move = (coin: Coin, source: Address, destination: Address, authority: Keypair, amount: bigint): Instruction =>
  getTransferCheckedInstruction(
    { source, mint: coin.mint.address, destination, authority, amount, decimals: coin.decimals },
    { programAddress: coin.program },
  );

/** One wallet gives another some of a coin. */
export const payToken: Scene = ({ dice, holding }) => {
  const [payer, payee] = pair(dice);
  const coin = dice.pick(COINS);
  const amount = sum(coin, dice.amount(MAX_COINS));
  return { payer, instructions: [move(coin, holding(coin, payer), holding(coin, payee), payer, amount)] };
};

/** A wallet exchanges dollars for gold, or gold for dollars, at the price that keeps the product of the vaults. */
export const swap: Scene = ({ dice, holding, account }) => {
  const payer = dice.pick(WALLETS);
  const [give, get] = dice.below(2) === 0 ? [DOLLAR, GOLD] : [GOLD, DOLLAR];
  const vaultIn = tokenAmount(account(holding(give, POOL)));
  const vaultOut = tokenAmount(account(holding(get, POOL)));
  const amountIn = vaultIn / (1000n + dice.amount(100_000)) + 1n;
  const amountOut = (vaultOut * amountIn * 997n) / ((vaultIn + amountIn) * 1000n);
  return {
    payer,
    instructions: [
      move(give, holding(give, payer), holding(give, POOL), payer, amountIn),
      move(get, holding(get, POOL), holding(get, payer), POOL, amountOut),
    ],
  };
};

/** The treasury makes more of a coin. */
export const mint: Scene = ({ dice, holding }) => {
  const coin = dice.pick(COINS);
  const { program, decimals } = coin;
  const amount = sum(coin, dice.amount(MAX_COINS));
  const token = holding(coin, dice.pick(WALLETS));
  const instruction = getMintToCheckedInstruction(
    { mint: coin.mint.address, token, mintAuthority: TREASURY, amount, decimals },
    { programAddress: program },
  );
  return { payer: TREASURY, instructions: [instruction] };
};

/** A wallet destroys some of a coin. */
export const burn: Scene = ({ dice, holding }) => {
  const payer = dice.pick(WALLETS);
  const coin = dice.pick(COINS);
  const { program, decimals } = coin;
  const instruction = getBurnCheckedInstruction(
    {
      account: holding(coin, payer),
      mint: coin.mint.address,
      authority: payer,
      amount: sum(coin, dice.amount(MAX_COINS)),
      decimals,
    },
    { programAddress: program },
  );
  return { payer, instructions: [instruction] };
};

/** A wallet lets another spend some of a coin; or the other spends it, if it has been let. */
export const delegate: Scene = ({ dice, holding, account }) => {
  const [owner, friend] = pair(dice);
  const coin = dice.pick(COINS);
  const source = holding(coin, owner);
  const allowance = allowanceOf(account(source));
  const spender = WALLETS.find(({ address }) => address === allowance?.delegate);
  if (spender !== undefined && allowance !== undefined) {
    return { payer: spender, instructions: [move(coin, source, holding(coin, spender), spender, allowance.amount)] };
  }
  const { program, decimals, mint } = coin;
  const amount = sum(coin, dice.amount(MAX_COINS));
  const instruction = getApproveCheckedInstruction(
    { source, mint: mint.address, delegate: friend.address, owner, amount, decimals },
    { programAddress: program },
  );
  return { payer: owner, instructions: [instruction] };
};

function tokenAmount(account: Account | undefined): bigint {
  return account === undefined ? 0n : Buffer.from(account.data).readBigUInt64LE(64);
}

function allowanceOf(account: Account | undefined): { readonly delegate: string; readonly amount: bigint } | undefined {
  const data = Buffer.from(account?.data ?? []);
  if (data.length < 165 || data.readUInt32LE(72) === 0) return undefined;
  return { delegate: bs58.encode(data.subarray(76, 108)), amount: data.readBigUInt64LE(121) };
}
