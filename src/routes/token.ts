import { z } from 'zod';
import { COMMITMENTS } from '../domain/commitment.ts';
import { address, commitment } from '../routing/params.ts';
import { readRoute, type Uses } from '../routing/route.ts';
import { extensions, integer } from '../routing/schemas.ts';
import { findMetadataAddress } from '../solana/accounts/metaplex-metadata-account.ts';
import { isNft, tokenMetadataOf } from '../solana/accounts/token-identity.ts';
import { TOKEN_PROGRAMS } from '../solana/accounts/token-program-accounts.ts';
import { toTokenAmount } from '../solana/accounts/ui-amount.ts';
import { requireMint } from '../tokens/require-mint.ts';

export const token = readRoute({
  path: '/token/:mint',
  summary: 'A mint: supply, authorities, metadata, extensions',
  params: { mint: address, commitment: commitment('confirmed', COMMITMENTS) },
  result: z.strictObject({
    mint: z.string(),
    program: z.enum(['spl-token', 'spl-token-2022']),
    programId: z.string(),
    decimals: integer,
    supply: z.string(),
    uiSupplyString: z.string(),
    mintAuthority: z.string().nullable(),
    freezeAuthority: z.string().nullable(),
    isInitialized: z.boolean(),
    isNft: z.boolean(),
    metadata: z
      .strictObject({
        name: z.string(),
        symbol: z.string(),
        uri: z.string(),
        source: z.enum(['token-2022', 'metaplex']),
        updateAuthority: z.string().nullable(),
        isMutable: z.boolean().nullable(),
      })
      .nullable(),
    extensions,
    priceUsd: z.number().nullable(),
    priceSource: z.string().nullable(),
  }),
  envelope: 'signed',
  cache: { slots: 4 },
  commitmentOf: ({ commitment }) => commitment,
  claimNumberOf: () => 2,
  errors: ['invalid_address', 'not_found', 'not_a_mint'],

  async resolve({ mint: address, commitment }, { mesh, prices }: Uses<'mesh' | 'prices'>, { minSlot }) {
    const at = { commitment, minContextSlot: minSlot };
    const { slot, mint, mints } = await requireMint(mesh, address, at, [findMetadataAddress(address)]);
    const { program, decimals, supply, mintAuthority, freezeAuthority, isInitialized } = mint;
    const price = (await prices.find([address], { commitment, slot })).get(address);
    return {
      slot,
      result: {
        mint: address,
        program,
        programId: TOKEN_PROGRAMS[program],
        decimals,
        supply: `${supply}`,
        uiSupplyString: toTokenAmount(supply, mints.scale(address)).uiAmountString,
        mintAuthority,
        freezeAuthority,
        isInitialized,
        isNft: isNft(mint),
        metadata: tokenMetadataOf(address, mint, (metadataAddress) => mints.accounts.get(metadataAddress)),
        extensions: program === 'spl-token' ? null : mint.extensions,
        priceUsd: price?.usd ?? null,
        priceSource: price?.source ?? null,
      },
    };
  },
});
