import { SYMBOL_BY_MINT } from '../../../shared/domain/known-mints.ts';
import { KNOWN_PROGRAMS } from '../../../transactions/index.ts';

/** A name that the gateway knows, and the addresses that it stands for: the mint of a ticker, then programs. */
export interface KnownName {
  /** As its makers spell it. */
  readonly name: string;
  readonly addresses: readonly [string, ...string[]];
}

/** The longest text that is looked up as a name. */
const MAX_NAME_LENGTH = 40;

/** Finds a ticker or the name of a program, whatever its case and punctuation: `usdc`, `$BONK`, `Magic Eden`, `pump fun`. */
export function findKnownName(text: string): KnownName | undefined {
  if (text.length > MAX_NAME_LENGTH || !/^\$?[a-z0-9]/i.test(text)) return undefined;
  const [key, withoutNoun] = [keyOf(text), keyOf(text.replace(/ (program|token)$/i, ''))];
  return NAMES.get(key) ?? NAMES.get(withoutNoun);
}

const keyOf = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

const NAMES: ReadonlyMap<string, KnownName> = collectNames([
  ...SYMBOL_BY_MINT,
  ...[...KNOWN_PROGRAMS].map(([id, { name }]) => [id, name] as const),
]);

function collectNames(rows: Iterable<readonly [address: string, name: string]>): ReadonlyMap<string, KnownName> {
  const names = new Map<string, KnownName>();
  for (const [address, name] of rows) {
    const known = names.get(keyOf(name));
    names.set(
      keyOf(name),
      known ? { ...known, addresses: [...known.addresses, address] } : { name, addresses: [address] },
    );
  }
  return names;
}
