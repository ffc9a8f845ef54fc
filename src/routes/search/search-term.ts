import bs58 from 'bs58';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Param } from '../../routing/params.ts';
import { parseSolDomain, type SolDomain } from '../../solana/accounts/sol-domain.ts';

/** What a search text can mean. */
export type SearchTerm = { readonly query: string } & (
  | { readonly type: 'address'; readonly id: string }
  | { readonly type: 'signature'; readonly id: string }
  | { readonly type: 'slot'; readonly id: string }
  | { readonly type: 'domain'; readonly domain: SolDomain }
);

/** `?q=`: anything that somebody may paste. */
export const searchTerm: Param<SearchTerm, string> = {
  schema: { type: 'string', minLength: 1 },
  required: true,
  description: "An address, a mint, a signature, a slot, a .sol name, or an explorer's URL of one",
  parse(text, name) {
    const query = text?.trim() ?? '';
    if (text === undefined || query === '') throw new GatewayError('invalid_query', `${name} must not be empty`);
    const term = classify(extractId(query));
    if (term === undefined) {
      throw new GatewayError('unclassifiable', `${name} is no address, signature, slot or .sol name`);
    }
    return { query: text, ...term };
  },
};

/** Explorers, and the gateway itself, end their paths with what a page is about. */
const EXPLORER_URL =
  /^(?:https?:\/\/)?[\w.-]+(?::\d+)?(?:\/[\w.-]+)*?\/(?:tx|address|account|token|block|slot)\/([^/?#]+)/i;

const extractId = (query: string): string => EXPLORER_URL.exec(query)?.[1] ?? query;

/** Longer texts are neither 32 nor 64 bytes, and decoding base58 takes quadratic time. */
const MAX_BASE58_LENGTH = 90;

/** Base58 goes first: the System Program's address is all digits. */
function classify(id: string) {
  const bytes = id.length > MAX_BASE58_LENGTH ? undefined : bs58.decodeUnsafe(id)?.length;
  if (bytes === 32) return { type: 'address', id } as const;
  if (bytes === 64) return { type: 'signature', id } as const;
  if (/^\d{1,20}$/.test(id)) return { type: 'slot', id: `${BigInt(id)}` } as const;
  const domain = /\.sol$/i.test(id) && id.length <= MAX_DOMAIN_LENGTH ? parseSolDomain(id) : undefined;
  return domain && ({ type: 'domain', domain } as const);
}

/** No name is longer than what a URL's label may be, twice. */
const MAX_DOMAIN_LENGTH = 132;
