import { getSetComputeUnitLimitInstruction } from '@solana-program/compute-budget';
import { getTransferSolInstruction } from '@solana-program/system';
import { COINS } from './demo-accounts.ts';
import { createMemo } from './payment-scenarios.ts';
import { pickTwoWallets, type Scenario } from './scenario.ts';
import { transferCoins } from './token-scenarios.ts';

const EXCESSIVE_AMOUNT = 10n ** 18n;

const overdrawSol: Scenario = ({ rng }) => {
  const [payer, payee] = pickTwoWallets(rng);
  const transfer = { source: payer, destination: payee.address, amount: EXCESSIVE_AMOUNT };
  return { payer, instructions: [getTransferSolInstruction(transfer)] };
};

const overdrawToken: Scenario = ({ rng, tokenAccountOf }) => {
  const [payer, payee] = pickTwoWallets(rng);
  const coin = rng.pick(COINS);
  const [source, destination] = [tokenAccountOf(coin, payer), tokenAccountOf(coin, payee)];
  return { payer, instructions: [transferCoins(coin, source, destination, payer, EXCESSIVE_AMOUNT)] };
};

const sendInvalidMemo: Scenario = ({ rng }) => {
  const [payer] = pickTwoWallets(rng);
  return { payer, instructions: [createMemo(payer, Uint8Array.of(0xff, 0xfe, rng.intBelow(256)))] };
};

const exceedComputeLimit: Scenario = ({ rng }) => {
  const [payer] = pickTwoWallets(rng);
  return {
    payer,
    instructions: [getSetComputeUnitLimitInstruction({ units: 300 }), createMemo(payer, 'too long to run')],
  };
};

/** Creates a transaction that lands, fails and pays its fee, for one of several reasons. */
export const sendFailing: Scenario = (context) =>
  context.rng.pick([overdrawSol, overdrawToken, sendInvalidMemo, exceedComputeLimit])(context);
