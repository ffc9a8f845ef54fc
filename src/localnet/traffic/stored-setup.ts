import { createHash } from 'node:crypto';
import { deserialize, serialize } from 'node:v8';
import type { BankEffects } from '../bank/bank.ts';
import type { Chain } from '../bank/chain.ts';
import { deriveTokenAccounts, tokenAccountFinder } from './associated-token-accounts.ts';
import { setUpTraffic, type TrafficSetup } from './traffic-setup.ts';

/**
 * Storage of setups. The keys name the state of the chain that a setup was made from; the store has to keep setups of
 * different code apart.
 */
export interface SetupStore {
  read(key: string): Uint8Array | undefined;
  write(key: string, setup: Uint8Array): void;
}

interface StoredSetup {
  readonly effects: BankEffects;
  readonly tokenAccounts: Awaited<ReturnType<typeof deriveTokenAccounts>>;
  readonly lookupTable: TrafficSetup['lookupTable'];
}

/**
 * Sets up the traffic of a chain, as {@link setUpTraffic} does. Where the store has the setup of an equal chain, its
 * effects are applied instead: the same accounts and the same first block, without signing and running transactions.
 */
export async function loadOrSetUpTraffic(chain: Chain, store: SetupStore): Promise<TrafficSetup> {
  const before = chain.initialState;
  const key = createHash('sha256').update(serialize(before)).digest('hex');
  const stored = store.read(key);
  if (stored !== undefined) {
    const { effects, tokenAccounts, lookupTable }: StoredSetup = deserialize(stored);
    chain.applyInitialEffects(effects);
    return { tokenAccountOf: tokenAccountFinder(tokenAccounts), lookupTable };
  }
  const setup = await setUpTraffic(chain);
  const content: StoredSetup = {
    effects: effectsSince(before, chain.initialState),
    tokenAccounts: await deriveTokenAccounts(),
    lookupTable: setup.lookupTable,
  };
  store.write(key, serialize(content));
  return setup;
}

/** Leaves out what a chain had done before, among it the sysvars, which only LiteSVM itself can write. */
function effectsSince(before: BankEffects, now: BankEffects): BankEffects {
  const known = new Map(before.accounts.map(({ address, after }) => [address, after]));
  return {
    accounts: now.accounts.filter(({ address, after }) => !known.has(address) || known.get(address) !== after),
    transactions: now.transactions.slice(before.transactions.length),
  };
}
