import * as z from 'zod';
import { COMMITMENTS } from '../../shared/domain/commitment.ts';
import { nullIf } from '../../shared/domain/gateway-error.ts';
import { knownMintSymbol } from '../../shared/domain/known-mints.ts';
import {
  findMetadataAddress,
  isNft,
  TOKEN_PROGRAMS,
  TOKEN_STANDARDS,
  tokenMetadataOf,
  toTokenAmount,
  withBoundedTexts,
} from '../../transactions/index.ts';
import { requireMint } from '../tokens/mint-scales.ts';
import { readNftOwner, throwMintNotKnownYet } from '../upstream/reads/largest-token-accounts.ts';
import { isRefusal } from '../upstream/rpc/error-normalizer.ts';
import { address, commitment } from './routing/params.ts';
import { readRoute, type Uses } from './routing/route.ts';
import { exactNumber, extensions, integer, toExactNumber } from './routing/schemas.ts';

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
        name: z.string().describe('As its creator wrote it, as each text here: at most 4 KiB'),
        symbol: z.string(),
        uri: z.string(),
        source: z.enum(['token-2022', 'metaplex']),
        updateAuthority: z.string().nullable(),
        isMutable: z.boolean().nullable(),
        sellerFeeBasisPoints: integer.nullable(),
        creators: z
          .array(z.strictObject({ address: z.string(), share: integer, verified: z.boolean().nullable() }))
          .readonly()
          .nullable(),
        collection: z.strictObject({ key: z.string(), verified: z.boolean() }).nullable(),
        tokenStandard: z.enum(TOKEN_STANDARDS).nullable(),
        primarySaleHappened: z.boolean().nullable(),
      })
      .nullable(),
    knownSymbol: z
      .string()
      .nullable()
      .describe(
        'The symbol of a well-known mint, known by its address: of wrapped SOL, too, which may have no metadata',
      ),
    extensions,
    owner: z.string().nullable().describe('Owner of an NFT; null for other tokens, and if no node reports it'),
    holders: z
      .strictObject({ count: integer, slot: integer })
      .nullable()
      .describe('Token accounts with a balance at a slot, if `/token/{mint}/holders` has listed them lately'),
    priceUsd: exactNumber.nullable(),
    priceSource: z.string().nullable(),
    priceTime: integer.nullable(),
    priceStale: z.boolean().describe('True if the price is the last known one'),
  }),
  envelope: 'signed',
  cache: { slots: 4 },
  claimNumberOf: () => 3,
  errors: ['invalid_address', 'not_found', 'not_a_mint'],

  async resolve(
    { mint: address, commitment },
    { callsFor, prices, holderTables }: Uses<'callsFor' | 'prices' | 'holderTables'>,
    scope,
  ) {
    const rpc = callsFor(scope);
    const at = { commitment, minContextSlot: scope.minSlot };
    const { slot, mint, mints } = await requireMint(rpc, address, at, [findMetadataAddress(address)]);
    const { program, decimals, supply, mintAuthority, freezeAuthority, isInitialized } = mint;
    const nft = isNft(mint);
    const owner = nft
      ? await readNftOwner(rpc, address, { commitment, minContextSlot: slot })
          .catch(throwMintNotKnownYet)
          .catch(nullIf(isRefusal))
      : null;
    const table = holderTables.get(address);
    const price = (await prices.find([address], { commitment, slot, cost: scope.cost })).get(address);
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
        isNft: nft,
        metadata: tokenMetadataOf(address, mint, (metadataAddress) => mints.accounts.get(metadataAddress)),
        knownSymbol: knownMintSymbol(address),
        extensions: program === 'spl-token' ? null : mint.extensions.map(withBoundedTexts),
        owner: owner ?? null,
        holders: table === undefined ? null : { count: table.total, slot: table.slot },
        priceUsd: price === undefined ? null : toExactNumber(price.usd.units, price.usd.scale),
        priceSource: price?.source ?? null,
        priceTime: price?.time ?? null,
        priceStale: price?.stale === true,
      },
    };
  },
});
