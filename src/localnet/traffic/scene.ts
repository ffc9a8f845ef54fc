import type { Account } from '../bank/account.ts';
import { WALLETS } from './cast.ts';
import type { Composition } from './compose.ts';
import type { Dice } from './dice.ts';
import type { Keypair } from './keypair.ts';
import type { Stage } from './stage.ts';

/** Where a scene plays: the stage, chance, and the accounts as the block being made has them. */
export interface World extends Stage {
  readonly dice: Dice;
  account(address: string): Account | undefined;
  minimumBalance(size: number): bigint;
}

/** A transaction to be; it takes the newest blockhash unless it names one. */
type Act = Omit<Composition, 'blockhash'> & { readonly blockhash?: string };

/** Something that people do on a chain. */
export type Scene = (world: World) => Act;

/** Two wallets that are not the same. */
export function pair({ below, pick }: Dice): [Keypair, Keypair] {
  const first = pick(WALLETS);
  const other = WALLETS[(WALLETS.indexOf(first) + 1 + below(WALLETS.length - 1)) % WALLETS.length];
  return [first, other ?? first];
}
