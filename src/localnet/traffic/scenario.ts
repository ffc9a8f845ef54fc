import type { Account } from '../bank/svm-account.ts';
import type { TransactionDraft } from './build-transaction.ts';
import { WALLETS } from './demo-accounts.ts';
import type { Keypair } from './demo-keypair.ts';
import type { Rng } from './seeded-rng.ts';
import type { TrafficSetup } from './traffic-setup.ts';

/** Input of a scenario: the setup, random numbers, and the accounts as the working bank has them. */
export interface ScenarioContext extends TrafficSetup {
  readonly rng: Rng;
  account(address: string): Account | undefined;
  minimumBalance(size: number): bigint;
}

/** A transaction to be built; uses the newest blockhash unless it names one. */
type TransactionTemplate = Omit<TransactionDraft, 'blockhash'> & { readonly blockhash?: string };

/** Generator of one kind of transaction. */
export type Scenario = (context: ScenarioContext) => TransactionTemplate;

export function pickTwoWallets({ intBelow, pick }: Rng): [Keypair, Keypair] {
  const first = pick(WALLETS);
  const other = WALLETS[(WALLETS.indexOf(first) + 1 + intBelow(WALLETS.length - 1)) % WALLETS.length];
  return [first, other ?? first];
}
