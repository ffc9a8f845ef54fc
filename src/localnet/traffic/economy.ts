import type { Instruction } from '@solana/web3.js';
import { getSetComputeUnitLimitInstruction, getSetComputeUnitPriceInstruction } from '@solana-program/compute-budget';
import { COMPUTE_BUDGET_PROGRAM } from '../../domain/well-known-addresses.ts';
import type { Chain } from '../bank/chain.ts';
import { TransactionRefused } from '../bank/transaction-error.ts';
import { NONCE } from './cast.ts';
import { compose } from './compose.ts';
import { type Dice, dice as rollDice } from './dice.ts';
import { fail } from './mishaps.ts';
import { payByNonce, payInvoice, payMany, payWallet, visit } from './payments.ts';
import type { Scene, World } from './scene.ts';
import { type Stage, setStage } from './stage.ts';
import { useLocker, wrap } from './token-accounts.ts';
import { burn, delegate, mint, payToken, swap } from './trades.ts';

export interface EconomyOptions {
  /** Transactions per slot, on average. */
  readonly perSlot: number;
  readonly seed: number;
}

/** How often each thing happens, in a hundred or so. */
const REPERTOIRE: readonly (readonly [times: number, scene: Scene])[] = [
  [24, payWallet],
  [24, payToken],
  [14, swap],
  [9, fail],
  [8, payInvoice],
  [4, wrap],
  [4, useLocker],
  [4, visit],
  [3, mint],
  [3, burn],
  [3, delegate],
  [3, payMany],
  [1, payByNonce],
];
const DECK = REPERTOIRE.flatMap(([times, scene]) => Array<Scene>(times).fill(scene));

const UNIT_LIMITS = [60_000, 120_000, 200_000] as const;

/**
 * Life on the chain: people who pay, trade, note, fail and change their minds, the same for the same seed. It prepares
 * the chain's first block, then acts in each block from the chain's start on.
 */
export async function openEconomy(chain: Chain, { perSlot, seed }: EconomyOptions): Promise<Stage> {
  const stage = await setStage(chain);
  const dice = rollDice(seed);
  const world: World = {
    ...stage,
    dice,
    account: (address) => chain.accountAt(address, Number.POSITIVE_INFINITY),
    minimumBalance: (size) => chain.minimumBalance(size),
  };
  chain.onSlot(() => {
    for (let left = dice.below(2 * perSlot + 1); left > 0; left--) act(chain, world);
  });
  return stage;
}

function act(chain: Chain, world: World): void {
  const { dice } = world;
  const scene = DECK[dice.below(DECK.length)] ?? payWallet;
  const { instructions, ...rest } = scene(world);
  const blockhash = rest.blockhash ?? chain.latestBlockhash('processed').hash;
  const budget = isPlain(instructions[0]) ? bid(dice) : [];
  try {
    chain.send(compose({ ...rest, blockhash, instructions: [...budget, ...instructions] }));
  } catch (error) {
    // Two equal transactions in one block: the cluster takes one, as it should.
    if (!(error instanceof TransactionRefused)) throw error;
  }
}

/** A nonce is advanced before all else, and a budget is set once. */
const isPlain = (first: Instruction | undefined): boolean =>
  first?.programAddress !== COMPUTE_BUDGET_PROGRAM && first?.accounts?.[0]?.address !== NONCE.address;

/** Two of three are in a hurry, a few of them very much so. */
function bid(dice: Dice): Instruction[] {
  if (dice.below(3) === 0) return [];
  const hurry = dice.below(40);
  return [
    getSetComputeUnitLimitInstruction({ units: dice.pick(UNIT_LIMITS) }),
    getSetComputeUnitPriceInstruction({ microLamports: hurry ** 3 }),
  ];
}
