import { getSetComputeUnitLimitInstruction } from '@solana-program/compute-budget';
import { getTransferSolInstruction } from '@solana-program/system';
import { getTransferCheckedInstruction } from '@solana-program/token';
import { COINS } from './cast.ts';
import { memo } from './payments.ts';
import { pair, type Scene } from './scene.ts';

const MORE_THAN_ANYBODY_HAS = 10n ** 18n;

const overdraw: Scene = ({ dice }) => {
  const [payer, payee] = pair(dice);
  const transfer = { source: payer, destination: payee.address, amount: MORE_THAN_ANYBODY_HAS };
  return { payer, instructions: [getTransferSolInstruction(transfer)] };
};

const overdrawToken: Scene = ({ dice, holding }) => {
  const [payer, payee] = pair(dice);
  const coin = dice.pick(COINS);
  const transfer = getTransferCheckedInstruction(
    {
      source: holding(coin, payer),
      mint: coin.mint.address,
      destination: holding(coin, payee),
      authority: payer,
      amount: MORE_THAN_ANYBODY_HAS,
      decimals: coin.decimals,
    },
    { programAddress: coin.program },
  );
  return { payer, instructions: [transfer] };
};

const scribble: Scene = ({ dice }) => {
  const [payer] = pair(dice);
  return { payer, instructions: [memo(payer, Uint8Array.of(0xff, 0xfe, dice.below(256)))] };
};

const exhaust: Scene = ({ dice }) => {
  const [payer] = pair(dice);
  return { payer, instructions: [getSetComputeUnitLimitInstruction({ units: 300 }), memo(payer, 'too long to run')] };
};

/** Transactions that land, fail and pay, each for another reason. */
export const fail: Scene = (world) => world.dice.pick([overdraw, overdrawToken, scribble, exhaust])(world);
