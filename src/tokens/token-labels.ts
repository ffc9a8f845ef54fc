import { LRUCache } from 'lru-cache';
import type { Clock } from '../domain/clock.ts';
import { identityInMint, nameInMetaplexAccount } from '../solana/accounts/token-identity.ts';
import { quotedName, type TokenLabel, tokenLabelText } from '../solana/accounts/token-label.ts';
import type { Mint } from '../solana/accounts/token-program-accounts.ts';
import type { Mesh } from '../upstream/mesh/mesh.ts';
import { type EncodedAccount, type ReadOptions, readEncodedAccounts } from '../upstream/reads/encoded-accounts.ts';
import type { KnownMints } from './known-mints.ts';
import { cachedMetadataAddress } from './metadata-addresses.ts';
import { decodeMint } from './mint-scales.ts';

/** The most labels that are remembered: about 2 MB. */
const MAX_LABELS = 10_000;

/** The time for which a label is remembered: a token may get another name. */
const LABEL_TTL_MS = 300_000;

/** What a look-up reads from, and counts for. */
interface LookUp {
  readonly mesh: Pick<Mesh, 'call'>;
  readonly countRows: (count: number) => void;
}

/** Labels of tokens by mint. */
export interface TokenLabels {
  /** Resolves to the labels of those mints that have one. Reads what isn't remembered, in one call. */
  find(mints: readonly string[], lookUp: LookUp, options: ReadOptions): Promise<ReadonlyMap<string, TokenLabel>>;
}

interface Remembered {
  readonly label: TokenLabel | null;
  readonly readMs: number;
}

/** Finds how sentences call tokens, by the mints' metadata, and remembers that for a while. */
export class TokenLabelCache implements TokenLabels {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #knownMints: KnownMints;
  readonly #labels = new LRUCache<string, Remembered>({ max: MAX_LABELS });

  constructor(clock: Pick<Clock, 'monotonic'>, knownMints: KnownMints) {
    this.#clock = clock;
    this.#knownMints = knownMints;
  }

  async find(mints: readonly string[], lookUp: LookUp, options: ReadOptions): Promise<ReadonlyMap<string, TokenLabel>> {
    const found = new Map<string, TokenLabel | null>();
    for (const mint of mints) {
      const label = this.#rememberedLabel(mint);
      if (label !== undefined) found.set(mint, label);
    }
    const missing = mints.filter((mint) => !found.has(mint));
    if (missing.length > 0)
      for (const [mint, label] of await this.#read(missing, lookUp, options)) found.set(mint, label);
    return withoutNamesakes(found);
  }

  #rememberedLabel(mint: string): TokenLabel | null | undefined {
    const remembered = this.#labels.get(mint);
    return remembered !== undefined && this.#clock.monotonic() - remembered.readMs < LABEL_TTL_MS
      ? remembered.label
      : undefined;
  }

  async #read(mints: readonly string[], { mesh, countRows }: LookUp, options: ReadOptions) {
    countRows(mints.length);
    const addressed = mints.map((mint) => [mint, cachedMetadataAddress(mint)] as const);
    const { accounts } = await readEncodedAccounts(mesh, addressed.flat(), options);
    const readMs = this.#clock.monotonic();
    return addressed.map(([mint, metadataAddress]) => {
      const decoded = decodeMint(accounts.get(mint));
      const label = decoded === undefined ? null : this.#labelOf(mint, decoded, accounts.get(metadataAddress));
      this.#labels.set(mint, { label, readMs });
      return [mint, label] as const;
    });
  }

  #labelOf(mint: string, decoded: Mint, metadata: EncodedAccount | undefined): TokenLabel | null {
    const { isNft, embedded } = identityInMint(mint, decoded);
    const name = embedded ?? nameInMetaplexAccount(mint, metadata);
    if (name === null) return null;
    const text = isNft ? quotedName(name.name) : tokenLabelText(name);
    if (text === null) return null;
    const isImitation = [name.symbol, text].some((symbol) =>
      this.#knownMints.isImitation({ mint, symbol, name: null }),
    );
    return { text: isImitation && !text.startsWith('“') ? `“${text}”` : text, isAmbiguous: isImitation };
  }
}

/** Returns labels of which no two are the same: those that were are ambiguous. */
function withoutNamesakes(found: ReadonlyMap<string, TokenLabel | null>): ReadonlyMap<string, TokenLabel> {
  const labels = [...found].flatMap(([mint, label]) => (label === null ? [] : [[mint, label] as const]));
  const counts = new Map<string, number>();
  for (const [, { text }] of labels) counts.set(keyOf(text), (counts.get(keyOf(text)) ?? 0) + 1);
  return new Map(
    labels.map(([mint, { text, isAmbiguous }]) => [
      mint,
      { text, isAmbiguous: isAmbiguous || (counts.get(keyOf(text)) ?? 0) > 1 },
    ]),
  );
}

const keyOf = (text: string): string => text.toUpperCase();
