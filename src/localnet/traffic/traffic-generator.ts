import type { Instruction } from '@solana/web3.js';
import { getSetComputeUnitLimitInstruction, getSetComputeUnitPriceInstruction } from '@solana-program/compute-budget';
import { getTransferSolInstruction } from '@solana-program/system';
import { COMPUTE_BUDGET_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import type { Chain } from '../bank/chain.ts';
import { TransactionRefused } from '../bank/svm-transaction-error.ts';
import { buildTransaction } from './build-transaction.ts';
import { COINS, NONCE } from './demo-accounts.ts';
import { createMemo, fundOrEmptyWallet, payByNonce, payInvoice, payMany, payWallet } from './payment-scenarios.ts';
import { pickTwoWallets, type Scenario, type ScenarioContext } from './scenario.ts';
import { type Rng, seededRng } from './seeded-rng.ts';
import { openOrCloseTokenAccount, wrapOrUnwrapSol } from './token-account-scenarios.ts';
import { approveOrSpend, burnCoins, mintCoins, payToken, swap, transferCoins } from './token-scenarios.ts';
import { setUpTraffic, type TrafficSetup } from './traffic-setup.ts';

export interface TrafficOptions {
  readonly transactionsPerSlot: number;
  readonly seed: number;
}

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
const sendFailing: Scenario = (context) =>
  context.rng.pick([overdrawSol, overdrawToken, sendInvalidMemo, exceedComputeLimit])(context);

/** Relative frequency of each scenario; the sum is about a hundred. */
const SCENARIO_WEIGHTS: readonly (readonly [weight: number, scenario: Scenario])[] = [
  [24, payWallet],
  [24, payToken],
  [14, swap],
  [9, sendFailing],
  [8, payInvoice],
  [4, wrapOrUnwrapSol],
  [4, openOrCloseTokenAccount],
  [4, fundOrEmptyWallet],
  [3, mintCoins],
  [3, burnCoins],
  [3, approveOrSpend],
  [3, payMany],
  [1, payByNonce],
];
const WEIGHTED_SCENARIOS = SCENARIO_WEIGHTS.flatMap(([weight, scenario]) => Array<Scenario>(weight).fill(scenario));
const COMPUTE_UNIT_LIMITS = [60_000, 120_000, 200_000] as const;

/** The same for the same seed. Prepares the chain's first block, then sends transactions to each block. */
export async function startTraffic(chain: Chain, { transactionsPerSlot, seed }: TrafficOptions): Promise<TrafficSetup> {
  const setup = await setUpTraffic(chain);
  const rng = seededRng(seed);
  const context: ScenarioContext = {
    ...setup,
    rng,
    account: (address) => chain.accountAt(address, Number.POSITIVE_INFINITY),
    minimumBalance: (size) => chain.minimumBalance(size),
  };
  chain.onSlot(() => {
    for (let remaining = rng.intBelow(2 * transactionsPerSlot + 1); remaining > 0; remaining--)
      sendRandomTransaction(chain, context);
  });
  return setup;
}

function sendRandomTransaction(chain: Chain, context: ScenarioContext): void {
  const { rng } = context;
  const scenario = WEIGHTED_SCENARIOS[rng.intBelow(WEIGHTED_SCENARIOS.length)] ?? payWallet;
  const { instructions, ...draft } = scenario(context);
  const blockhash = draft.blockhash ?? chain.latestBlockhash('processed').hash;
  const budget = acceptsComputeBudget(instructions[0]) ? randomComputeBudget(rng) : [];
  try {
    chain.send(buildTransaction({ ...draft, blockhash, instructions: [...budget, ...instructions] }));
  } catch (error) {
    // Two equal transactions in one block: the cluster refuses the second, as it should.
    if (!(error instanceof TransactionRefused)) throw error;
  }
}

/** A nonce must be advanced before anything else, and a budget is set only once. */
const acceptsComputeBudget = (first: Instruction | undefined): boolean =>
  first?.programAddress !== COMPUTE_BUDGET_PROGRAM && first?.accounts?.[0]?.address !== NONCE.address;

/** Two of three transactions pay for priority, a few of them a high price. */
function randomComputeBudget(rng: Rng): Instruction[] {
  if (rng.intBelow(3) === 0) return [];
  const urgency = rng.intBelow(40);
  return [
    getSetComputeUnitLimitInstruction({ units: rng.pick(COMPUTE_UNIT_LIMITS) }),
    getSetComputeUnitPriceInstruction({ microLamports: urgency ** 3 }),
  ];
}
