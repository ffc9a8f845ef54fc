import { z } from 'zod';
import { COMMITMENTS } from '../domain/commitment.ts';
import { combinedLease, limitedLease } from '../domain/lease.ts';
import { PRICE_SOURCES } from '../domain/price-source-names.ts';
import type { Slot } from '../domain/slot.ts';
import { toSol } from '../domain/sol-amount.ts';
import { type Position, type ValuedPosition, valuePositions } from '../prices/valuation.ts';
import { address, commitment } from '../routing/params.ts';
import { readRoute, type Uses } from '../routing/route.ts';
import { integer, preSerialized, serializeInChunks } from '../routing/schemas.ts';
import { mapInChunks } from '../runtime/map-in-chunks.ts';
import { WRAPPED_SOL } from '../solana/accounts/known-mints.ts';
import { tokenNameOf, tokenSymbolOf } from '../solana/accounts/token-identity.ts';
import type { TokenProgram } from '../solana/accounts/token-program-accounts.ts';
import { toTokenAmount } from '../solana/accounts/ui-amount.ts';
import { scaleOf, type TokenList } from '../tokens/token-list.ts';
import type { AccountRead } from '../upstream/reads/account-batcher.ts';
import { parseAccountLamports } from '../upstream/reads/account-info.ts';
import type { ReadOptions } from '../upstream/reads/encoded-accounts.ts';
import { readAtOneSlot } from '../upstream/reads/read-at-one-slot.ts';

const itemSchema = z.strictObject({
  asset: z.enum(['SOL', 'token']),
  mint: z.string(),
  symbol: z.string().nullable(),
  name: z.string().nullable(),
  logoUri: z.string().nullable(),
  program: z.enum(['native', 'spl-token', 'spl-token-2022']),
  amount: z.string(),
  decimals: integer,
  uiAmountString: z.string(),
  accounts: integer,
  isNft: z.boolean(),
  priceUsd: z.number().nullable(),
  priceSource: z.enum(PRICE_SOURCES).nullable(),
  priceSlot: integer.nullable(),
  priceTime: integer.nullable(),
  valueUsd: z.number().nullable(),
  share: z.number().nullable(),
});

/** The most tokens that are valued: each costs two accounts at the node, and a derived address. */
const MAX_TOKENS = 1000;

/** Life of a valuation, in slots. Balances may be live for longer, but prices move without any change of an account. */
const VALUATION_SLOTS = 4;

/** The most units of a miss: the rows of the longest list, its tokens and the calls for their names, and the bytes. */
const MOST_UNITS = 125;

export const portfolio = readRoute({
  path: '/address/:addr/portfolio',
  summary: 'The SOL and tokens of an address, valued where a price is known',
  params: { addr: address, commitment: commitment('confirmed', COMMITMENTS) },
  result: z.strictObject({
    owner: z.string(),
    totalUsd: z.number().nullable(),
    pricedCount: integer,
    unpricedCount: integer,
    items: preSerialized(z.array(itemSchema)),
    valuation: z.strictObject({
      currency: z.literal('USD'),
      source: z.enum(['none', ...PRICE_SOURCES, 'custom']),
      maxAgeSec: integer,
      asOf: integer.nullable(),
    }),
  }),
  mostUnitsOf: () => MOST_UNITS,
  envelope: 'signed',
  cache: { slots: VALUATION_SLOTS },
  commitmentOf: ({ commitment }) => commitment,
  claimNumberOf: () => 2,
  errors: ['invalid_address', 'result_too_large'],

  async resolve(
    { addr, commitment },
    {
      liveAccounts,
      tokenLists,
      prices,
      cache,
      clock,
    }: Uses<'liveAccounts' | 'tokenLists' | 'prices' | 'cache' | 'clock'>,
    { minSlot },
  ) {
    const {
      slot,
      value: state,
      isConsistent,
    } = await readAtOneSlot(minSlot, async (minContextSlot) => {
      const read = await readBalances({ liveAccounts, tokenLists }, addr, { commitment, minContextSlot });
      return { ...read, value: read };
    });
    const lease =
      isConsistent && state.lease
        ? limitedLease(state.lease, {
            slots: VALUATION_SLOTS,
            tip: () => cache.tip,
            nowMs: clock.monotonic(),
          })
        : undefined;
    const assets = [...solAsset(state.lamports), ...(await tokenAssets(state.list))];
    const pricedMints = assets.filter(({ isNft }) => !isNft).map(({ mint }) => mint);
    const priceByMint = await prices.find(pricedMints, { commitment, slot });
    const { items, totalUsd, asOf } = valuePositions(assets, priceByMint);
    const pricedCount = items.filter(({ price }) => price !== null).length;
    const solFirst = [...items.filter(isSol), ...items.filter((each) => !isSol(each))];
    const { source, maxAgeSec } = prices;
    return {
      slot,
      lease,
      result: {
        owner: addr,
        totalUsd,
        pricedCount,
        unpricedCount: items.length - pricedCount,
        items: await serializeInChunks(solFirst, ITEMS_PER_CHUNK, toItem),
        valuation: { currency: 'USD' as const, source, maxAgeSec, asOf },
      },
    };
  },
});

/** Rows per turn of the event loop: a few milliseconds of work. */
const ITEMS_PER_CHUNK = 32;

/** One row before it is priced. */
interface Asset extends Position {
  readonly asset: 'SOL' | 'token';
  readonly symbol: string | null;
  readonly name: string | null;
  readonly program: 'native' | 'spl-token' | 'spl-token-2022';
  readonly amount: bigint;
  readonly decimals: number;
  readonly accounts: number;
}

const isSol = ({ position }: ValuedPosition<Asset>): boolean => position.asset === 'SOL';

/** Reads the SOL and token balances of an address. Live ones hold from `sinceSlots` on. */
async function readBalances(
  { liveAccounts, tokenLists }: Uses<'liveAccounts' | 'tokenLists'>,
  owner: string,
  at: ReadOptions,
) {
  const [balance, tokens] = await Promise.all([
    liveAccounts.read({ address: owner, shape: 'lamports', ...at }),
    tokenLists.read({ owner, ...at, withIdentities: true, maxHeldMints: MAX_TOKENS, maxAttempts: 1 }), // readAtOneSlot repeats the whole read
  ]);
  const { slot, sinceSlot, lamports, lease } = balanceAt(balance, tokens.slot, at.minContextSlot);
  return {
    slots: [slot, tokens.slot],
    sinceSlots: [sinceSlot, tokens.sinceSlot ?? tokens.slot],
    isRepeatable: tokens.isLong !== true,
    lamports,
    list: tokens.list,
    lease: lease && tokens.lease && combinedLease([lease, tokens.lease]),
  };
}

/** Returns the balance; the one before its newest change if the tokens are older than that. */
function balanceAt(
  { slot, sinceSlot = slot, account, lease, previous }: AccountRead,
  tokensSlot: Slot,
  minSlot: Slot = 0,
) {
  if (previous !== undefined && tokensSlot < sinceSlot && previous.lease.slot >= minSlot)
    return { ...previous, slot: previous.lease.slot };
  return { slot, sinceSlot, lamports: account === null ? 0n : parseAccountLamports(account), lease };
}

const solAsset = (lamports: bigint): Asset[] =>
  lamports === 0n
    ? []
    : [
        {
          asset: 'SOL',
          mint: WRAPPED_SOL,
          symbol: 'SOL',
          name: 'Solana',
          program: 'native',
          amount: lamports,
          decimals: 9,
          uiAmountString: toSol(lamports),
          accounts: 1,
          isNft: false,
        },
      ];

/** Returns a row for each mint with a balance. */
async function tokenAssets(list: TokenList): Promise<Asset[]> {
  const byMint = new Map<string, { readonly program: TokenProgram; amount: bigint; accounts: number }>();
  for (const { token } of list.accounts) {
    if (token.amount === 0n) continue;
    const sum = byMint.get(token.mint) ?? { program: token.program, amount: 0n, accounts: 0 };
    sum.amount += token.amount;
    sum.accounts++;
    byMint.set(token.mint, sum);
  }
  return mapInChunks([...byMint], ITEMS_PER_CHUNK, ([mint, sum]) => ({
    mint,
    ...sum,
    ...describeToken(mint, sum.amount, list),
  }));
}

function describeToken(mint: string, amount: bigint, list: TokenList) {
  const identity = list.identities?.get(mint);
  const name = tokenNameOf(identity);
  const { decimals, uiAmountString } = toTokenAmount(amount, scaleOf(list, mint));
  return {
    asset: 'token' as const,
    symbol: tokenSymbolOf(mint, name),
    name: name?.name || null,
    decimals,
    uiAmountString,
    isNft: identity?.isNft === true && amount === 1n,
  };
}

function toItem({ position, price, valueUsd, share }: ValuedPosition<Asset>): z.output<typeof itemSchema> {
  const { asset, mint, symbol, name, program, amount, decimals, uiAmountString, accounts, isNft } = position;
  return {
    asset,
    mint,
    symbol,
    name,
    logoUri: null, // stands in off-chain metadata, which the gateway doesn't fetch
    program,
    amount: `${amount}`,
    decimals,
    uiAmountString,
    accounts,
    isNft,
    priceUsd: price?.usd ?? null,
    priceSource: price?.source ?? null,
    priceSlot: price?.slot ?? null,
    priceTime: price?.time ?? null,
    valueUsd,
    share,
  };
}
