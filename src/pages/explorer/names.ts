import type { Client } from '../../client/index.ts';
import { knownMintSymbol, WRAPPED_SOL } from '../../shared/domain/known-mints.ts';
import { MAX_NAME_CHARACTERS, quotedName } from '../../shared/domain/quoted-name.ts';
import { type Child, create } from '../browser/elements.ts';
import { decimalOf } from '../format/amounts.ts';
import { figures } from './figures.ts';
import { linkTo } from './links.ts';

interface TokenNames {
  readonly symbol: string | null;
  readonly name: string | null;
}

/** Shows what a stranger wrote, in quotation marks and in a direction of its own; null if nothing of it can be seen. */
export function strangersText(text: string | null | undefined, maxCharacters?: number): HTMLElement | null {
  const quoted = quotedName(text ?? '', maxCharacters);
  return quoted === null ? null : create('bdi', {}, quoted);
}

/** Shows what a token is called: a symbol of ours stands bare. Null for one without a name. */
export const tokenName = (mint: string, { symbol, name }: TokenNames): string | HTMLElement | null =>
  knownMintSymbol(mint) ?? strangersText(symbol) ?? strangersText(name, MAX_NAME_CHARACTERS);

/** The mark of a known token: it has a frame and a ground of its own, which no text can draw. */
export const knownBadge = (): HTMLElement =>
  create('span', { class: 'badge', title: 'on a list of known tokens' }, '✓ known');

/** The most tokens whose names and prices a view reads, and the longest time for it. */
const MAX_READ = 6;
const READ_MS = 1500;

/** Writes names of tokens: known ones, those that a view has read, and addresses for all others. */
export class TokenLabels {
  readonly #client: Client;
  readonly #names = new Map<string, TokenNames>();
  readonly #prices = new Map<string, number>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** Reads the names of the first tokens that are not known; with prices, of the first tokens. */
  async read(mints: Iterable<string>, withPrices = false): Promise<void> {
    const isWanted = (mint: string): boolean =>
      !this.#prices.has(mint) && (withPrices || knownMintSymbol(mint) === null);
    const reading = [...new Set(mints)]
      .filter(isWanted)
      .slice(0, MAX_READ)
      .map(async (mint) => {
        const { metadata, priceUsd } = (await this.#client.get('/token/:mint', { mint })).result;
        if (metadata !== null) this.#names.set(mint, metadata);
        if (priceUsd !== null) this.#prices.set(mint, priceUsd);
      });
    const limit = new Promise((resolve) => setTimeout(resolve, READ_MS));
    await Promise.race([limit, Promise.allSettled(reading)]);
  }

  get hasPrices(): boolean {
    return this.#prices.size > 0;
  }

  /** Returns what an amount is worth at the price of now; empty if that is not known. */
  worthOf(mint: string, amount: string | number | bigint, decimals: number): string {
    const price = this.#prices.get(mint);
    return price === undefined ? '' : ` · ${figures.usd(Math.abs(Number(decimalOf(amount, decimals)) * price))}`;
  }

  /** Shows the token; SOL is no link. */
  of(mint: string): Child {
    if (mint === WRAPPED_SOL) return 'SOL';
    return linkTo(mint, tokenName(mint, this.#names.get(mint) ?? { symbol: null, name: null }) ?? undefined);
  }
}
