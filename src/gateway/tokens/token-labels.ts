import { LRUCache } from 'lru-cache';
import type { Clock } from '../../shared/domain/clock.ts';
import { quotedInSentence } from '../../shared/domain/quoted-name.ts';
import { countRows, type RequestCost } from '../../shared/domain/units.ts';
import { atMost } from '../../shared/runtime/at-most.ts';
import { expiresAfter } from '../../shared/runtime/expires-after.ts';
import {
  identityInMint,
  type Mint,
  nameInMetaplexAccount,
  type TokenLabel,
  tokenLabelText,
} from '../../transactions/index.ts';
import { type EncodedAccount, type ReadOptions, readEncodedAccounts } from '../upstream/reads/encoded-accounts.ts';
import type { RpcCaller } from '../upstream/rpc/rpc-response.ts';
import type { KnownMints } from './known-mint-names.ts';
import { cachedMetadataAddress } from './metadata-addresses.ts';
import { decodeMint } from './mint-scales.ts';

/** The most labels that are remembered: about 2 MB. */
const MAX_LABELS = 10_000;

/** The time for which a label is remembered: a token may get another name. */
const LABEL_TTL_MS = 300_000;

interface RememberedLabel {
  readonly label: TokenLabel | null;
}

interface LookUp {
  readonly rpc: RpcCaller;
  readonly cost: RequestCost | undefined;
}

export type TokenLabels = Pick<TokenLabelCache, 'find'>;

export class TokenLabelCache {
  readonly #knownMints: KnownMints;
  readonly #create: () => LRUCache<string, RememberedLabel>;
  #labels: LRUCache<string, RememberedLabel>;

  constructor(clock: Pick<Clock, 'monotonic'>, knownMints: KnownMints) {
    this.#knownMints = knownMints;
    this.#create = () => new LRUCache({ ...atMost(MAX_LABELS), ...expiresAfter(LABEL_TTL_MS, clock) });
    this.#labels = this.#create();
  }

  /** Resolves to the labels of those mints that have one. Reads what isn't remembered, in one call. */
  async find(mints: readonly string[], lookUp: LookUp, options: ReadOptions): Promise<ReadonlyMap<string, TokenLabel>> {
    const found = new Map<string, TokenLabel | null>();
    for (const mint of mints) {
      const remembered = this.#labels.get(mint);
      if (remembered !== undefined) found.set(mint, remembered.label);
    }
    const missing = mints.filter((mint) => !found.has(mint));
    if (missing.length > 0)
      for (const [mint, label] of await this.#read(missing, lookUp, options)) found.set(mint, label);
    return withoutNamesakes(found);
  }

  /** Forgets all labels, those too that are being read. */
  clear(): void {
    this.#labels = this.#create();
  }

  async #read(mints: readonly string[], { rpc, cost }: LookUp, options: ReadOptions) {
    const labels = this.#labels;
    countRows({ cost }, mints.length);
    const addressed = mints.map((mint) => [mint, cachedMetadataAddress(mint)] as const);
    const { accounts } = await readEncodedAccounts(rpc, addressed.flat(), options);
    return addressed.map(([mint, metadataAddress]) => {
      const decoded = decodeMint(accounts.get(mint));
      const label = decoded === undefined ? null : this.#labelOf(mint, decoded, accounts.get(metadataAddress));
      labels.set(mint, { label });
      return [mint, label] as const;
    });
  }

  #labelOf(mint: string, decoded: Mint, metadata: EncodedAccount | undefined): TokenLabel | null {
    const known = this.#knownMints.symbolOf(mint);
    if (known !== undefined) return { text: known, isAmbiguous: false };
    const { isNft, embedded } = identityInMint(mint, decoded);
    const name = embedded ?? nameInMetaplexAccount(mint, metadata);
    if (name === null) return null;
    const text = isNft ? quotedInSentence(name.name) : tokenLabelText(name);
    if (text === null) return null;
    const isAmbiguous = [name.symbol, text].some((symbol) =>
      this.#knownMints.isSuspicious({ mint, symbol, name: null }),
    );
    return { text, isAmbiguous };
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
