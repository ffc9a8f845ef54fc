import bs58 from 'bs58';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Param } from '../../routing/params.ts';
import { parseSolDomain, type SolDomain } from '../../solana/accounts/sol-domain.ts';

/** A classified search text. */
export type SearchTerm = { readonly query: string } & (
  | { readonly type: 'address'; readonly id: string }
  | { readonly type: 'signature'; readonly id: string }
  | { readonly type: 'slot'; readonly id: string }
  | { readonly type: 'domain'; readonly domain: SolDomain }
);

/** `?q=`: any text that a user may paste. */
export const searchTerm: Param<SearchTerm, string> = {
  schema: { type: 'string', minLength: 1 },
  required: true,
  description: "An address, a mint, a signature, a slot, a .sol name, or an explorer's URL of one",
  parse(text, name) {
    const query = text?.trim() ?? '';
    if (text === undefined || query === '') throw new GatewayError('invalid_query', `${name} must not be empty`);
    const term = classify(extractId(query));
    if (term === undefined) {
      throw new GatewayError(
        'unclassifiable',
        `${name} must be an address, a signature, a slot, a .sol name, or an explorer's URL of one`,
      );
    }
    return { query: text, ...term };
  },
};

/** URL of an explorer, or of this API, whose last path segment is the id. */
const EXPLORER_URL =
  /^(?:https?:\/\/)?[\w.-]+(?::\d+)?(?:\/[\w.-]+)*?\/(?:tx|address|account|token|block|slot)\/([^/?#]+)/i;

const extractId = (query: string): string => EXPLORER_URL.exec(query)?.[1] ?? query;

/** Longest text of 64 bytes in base58 is 88. Longer texts aren't decoded, since that takes quadratic time. */
const MAX_BASE58_LENGTH = 90;

/** Classifies an id. Base58 is tried first, because the System Program's address is all digits. */
function classify(id: string) {
  const bytes = id.length > MAX_BASE58_LENGTH ? undefined : bs58.decodeUnsafe(id)?.length;
  if (bytes === 32) return { type: 'address', id } as const;
  if (bytes === 64) return { type: 'signature', id } as const;
  if (/^\d{1,20}$/.test(id)) return { type: 'slot', id: `${BigInt(id)}` } as const;
  const domain = /\.sol$/i.test(id) && id.length <= MAX_DOMAIN_LENGTH ? parseSolDomain(id) : undefined;
  return domain && ({ type: 'domain', domain } as const);
}

/** Longest .sol name: two DNS labels of 63 bytes, dots and suffix. */
const MAX_DOMAIN_LENGTH = 132;
