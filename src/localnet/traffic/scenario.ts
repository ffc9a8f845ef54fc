import type { Account } from '../bank/svm-account.ts';
import type { TransactionDraft } from './build-transaction.ts';
import { WALLETS } from './demo-accounts.ts';
import type { Keypair } from './demo-keypair.ts';
import type { Rng } from './seeded-rng.ts';
import type { TrafficSetup } from './traffic-setup.ts';

/** Where a scene plays: the stage, chance, and the accounts as the block being made has them. */
export interface ScenarioContext extends TrafficSetup {
  readonly rng: Rng;
  account(address: string): Account | undefined;
  minimumBalance(size: number): bigint;
}

/** A transaction to be; it takes the newest blockhash unless it names one. */
type TransactionTemplate = Omit<TransactionDraft, 'blockhash'> & { readonly blockhash?: string };

/** Something that people do on a chain. */
export type Scenario = (world: ScenarioContext) => TransactionTemplate;

/** Two wallets that are not the same. */
export function pickTwoWallets({ intBelow, pick }: Rng): [Keypair, Keypair] {
  const first = pick(WALLETS);
  const other = WALLETS[(WALLETS.indexOf(first) + 1 + intBelow(WALLETS.length - 1)) % WALLETS.length];
  return [first, other ?? first];
}
