import { readTables } from '../../shared/runtime/files/read-tables.ts';

/** Relays by the accounts in which they receive tips. */
const RELAYS: ReadonlyMap<string, string> = new Map(
  readTables(new URL('data/tip-accounts.tsv', import.meta.url), 'relay').flatMap(({ head: [relay = ''], rows }) =>
    rows.map(([address = '']) => [address, relay] as const),
  ),
);

/** The accounts in which Jito's block builders receive tips. */
export const JITO_TIP_ACCOUNTS: ReadonlySet<string> = new Set(
  [...RELAYS].filter(([, relay]) => relay === 'Jito').map(([address]) => address),
);

/** Returns the relay that receives tips in an account; null if none does. */
export const tipRelayOf = (address: string): string | null => RELAYS.get(address) ?? null;

/** Returns whether an account receives tips: a payment to it buys a place in a block and nothing else. */
export const isTipAccount = (address: string): boolean => RELAYS.has(address);
