import * as z from 'zod';
import { COMMITMENTS, type Commitment } from '../../../shared/domain/commitment.ts';
import { nullIf } from '../../../shared/domain/gateway-error.ts';
import { WRAPPED_SOL } from '../../../shared/domain/known-mints.ts';
import { combinedLease, limitedLease } from '../../../shared/domain/lease.ts';
import { PRICE_SOURCES } from '../../../shared/domain/price-source-names.ts';
import { MAX_NAME_CHARACTERS, MAX_SYMBOL_CHARACTERS } from '../../../shared/domain/quoted-name.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { SOL_DECIMALS, toSol } from '../../../shared/domain/sol-amount.ts';
import { countRows, SCAN_UNITS } from '../../../shared/domain/units.ts';
import { mapInChunks } from '../../../shared/runtime/map-in-chunks.ts';
import { tokenNameOf, tokenSymbolOf, toTokenAmount } from '../../../transactions/index.ts';
import type { Price } from '../../prices/price-source.ts';
import {
  microUsdOf,
  type Position,
  VALUE_DECIMALS,
  type ValuedPosition,
  valuePositions,
} from '../../prices/valuation.ts';
import type { KnownMints } from '../../tokens/known-mint-names.ts';
import type { ListedTokenAccount } from '../../tokens/listed-token-account.ts';
import { scaleOf, type TokenList } from '../../tokens/token-list.ts';
import type { AccountRead } from '../../upstream/reads/account-batcher.ts';
import { parseAccountLamports } from '../../upstream/reads/account-info.ts';
import type { ReadOptions } from '../../upstream/reads/encoded-accounts.ts';
import { readEpochInfo } from '../../upstream/reads/network-statistics.ts';
import { readAtOneSlot } from '../../upstream/reads/read-at-one-slot.ts';
import { address, commitment, optionalLiteral } from '../routing/params.ts';
import type { Counted, RequestScope } from '../routing/request-scope.ts';
import { readRoute, type Uses } from '../routing/route.ts';
import {
  exactNumber,
  integer,
  type PreSerialized,
  preSerialized,
  serializeInChunks,
  toExactNumber,
} from '../routing/schemas.ts';
import { describeStake, readStakeTable, STAKE_TABLES, stakeSchema } from './stake-table.ts';

const itemSchema = z.strictObject({
  asset: z.enum(['SOL', 'token']),
  mint: z.string(),
  symbol: z.string().nullable().describe(`At most ${MAX_SYMBOL_CHARACTERS} characters`),
  name: z.string().nullable().describe(`At most ${MAX_NAME_CHARACTERS} characters`),
  logoUri: z.string().nullable(),
  program: z.enum(['native', 'spl-token', 'spl-token-2022']),
  amount: z.string(),
  decimals: integer,
  uiAmountString: z.string(),
  accounts: integer,
  tokenAccounts: z
    .array(
      z.strictObject({
        address: z.string(),
        amount: z.string(),
        delegate: z.string().nullable(),
        delegatedAmount: z.string().describe('What the delegate may still move, in smallest units'),
        frozen: z.boolean(),
      }),
    )
    .describe('The token accounts that hold the amount; none for SOL'),
  isNft: z.boolean(),
  verified: z.boolean().describe('True for a mint that is on a list of known tokens'),
  suspicious: z
    .boolean()
    .describe(
      'True for a mint with the symbol of a known one or one that looks the same, and for texts that deceive: with control characters, in another order than they are shown, with a check mark',
    ),
  priceUsd: exactNumber
    .nullable()
    .describe('The price of a token as the chain counts it, whatever multiplier it is shown with'),
  priceSource: z.enum(PRICE_SOURCES).nullable(),
  priceSlot: integer.nullable(),
  priceTime: integer.nullable(),
  stale: z.boolean().describe('True if the price is the last known one'),
  valueUsd: exactNumber.nullable(),
  share: exactNumber.nullable(),
});

/** The most tokens that are valued: each costs two accounts at the node, and a derived address. */
const MAX_TOKENS = 1000;

/** Life of a valuation, in milliseconds. Balances may be live for longer, but prices move without any change of an account. */
const VALUATION_MS = 1600;

/** The most units of a miss: the rows of the longest list, its tokens and the calls for their names, and the bytes. */
const MOST_UNITS = 147;

/** The most units of the stake accounts: a scan of at most 64 MiB, and their rows. */
const MOST_STAKE_UNITS = SCAN_UNITS + 64 + 10;

const STAKE_LISTS_PER_EPOCH = 10;

export const portfolio = readRoute({
  path: '/address/:addr/portfolio',
  summary: 'The SOL and tokens of an address, valued where a price is known',
  params: {
    addr: address,
    commitment: commitment('confirmed', COMMITMENTS),
    stake: optionalLiteral('1', 'Lists the stake accounts that the address may withdraw from, too'),
  },
  result: z.strictObject({
    owner: z.string(),
    totalUsd: exactNumber.nullable(),
    pricedCount: integer,
    unpricedCount: integer,
    items: preSerialized(z.array(itemSchema)),
    valuation: z.strictObject({
      currency: z.literal('USD'),
      source: z.enum(['none', ...PRICE_SOURCES]),
      maxAgeSec: integer,
      asOf: integer.nullable().describe('The time of the oldest price in the total'),
      stale: z.boolean().describe('True if a price in the total is the last known one'),
    }),
    stake: stakeSchema
      .nullable()
      .optional()
      .describe('Only with ?stake=1; null if no node lists the stake accounts, or there are more than 1,000'),
  }),
  missUnitPrice: '20 for the scan of stake accounts, which ?stake=1 needs once in a tenth of an epoch',
  missUnitsOf: ({ stake }) => (stake === undefined ? 0 : SCAN_UNITS),
  mostUnitsOf: ({ stake }) => MOST_UNITS + (stake === undefined ? 0 : MOST_STAKE_UNITS),
  envelope: 'signed',
  cache: { ms: VALUATION_MS },
  claimNumberOf: () => 3,
  errors: ['invalid_address', 'result_too_large'],

  async resolve({ addr, commitment, stake }, context: PortfolioContext, scope) {
    const { minSlot, namedSlot = 0, cost } = scope;
    const { knownMints, prices, cache, clock, mesh } = context;
    const {
      slot,
      value: state,
      isConsistent,
    } = await readAtOneSlot(minSlot, async (minContextSlot) => {
      // The Clock update that completes a slot behind the tip is on its way; a slot that a caller names is worth a wait.
      const mayWait = namedSlot > 0 || (minContextSlot ?? 0) < (mesh.tip(commitment) ?? 0);
      const read = await readBalances(context, addr, { commitment, minContextSlot, cost, mayWait });
      return { ...read, value: read };
    });
    const lease =
      isConsistent && state.lease
        ? limitedLease(state.lease, {
            slots: Math.max(1, Math.round(VALUATION_MS / mesh.slotTimeMs)),
            tip: () => cache.tip,
            nowMs: clock.monotonic(),
          })
        : undefined;
    const staked = stake === undefined ? undefined : await readStake(context, scope, addr, commitment);
    const assets = [...solAsset(state.lamports), ...(await tokenAssets(state.list, knownMints))];
    const pricedMints = assets.filter(({ isNft }) => !isNft).map(({ mint }) => mint);
    const [priceByMint, verified] = await Promise.all([
      prices.find(staked ? [WRAPPED_SOL, ...pricedMints] : pricedMints, { commitment, slot, cost }),
      knownMints.findVerified(pricedMints, cost),
    ]);
    const { items, totalMicroUsd, asOf, stale } = valuePositions(assets, priceByMint);
    const pricedCount = items.filter(({ price }) => price !== null).length;
    const solFirst = [...items.filter(isSol), ...items.filter((each) => !isSol(each))];
    const { source, maxAgeSec } = prices;
    return {
      slot,
      lease,
      result: {
        owner: addr,
        totalUsd: exactOrNull(totalMicroUsd),
        pricedCount,
        unpricedCount: items.length - pricedCount,
        items: await serializeInChunks(solFirst, ITEMS_PER_CHUNK, (item) => toItem(item, verified)),
        valuation: { currency: 'USD' as const, source, maxAgeSec, asOf, stale },
        ...(staked !== undefined && { stake: staked && valueStake(staked, priceByMint.get(WRAPPED_SOL)) }),
      },
    };
  },
});

type PortfolioContext = Uses<
  'callsFor' | 'mesh' | 'liveAccounts' | 'tokenLists' | 'stakeTables' | 'knownMints' | 'prices' | 'cache' | 'clock'
>;

/** Reads the stake accounts of an address and their states in the current epoch; null if no node lists them. */
async function readStake(
  { callsFor, stakeTables }: Uses<'callsFor' | 'stakeTables'>,
  scope: RequestScope,
  withdrawer: string,
  commitment: Commitment,
) {
  const rpc = callsFor(scope);
  const { absoluteSlot, epoch, slotsInEpoch } = (await readEpochInfo(rpc, commitment)).result;
  const oldestSlot = absoluteSlot - Math.floor(slotsInEpoch / STAKE_LISTS_PER_EPOCH);
  const scan = async (minSlot: Slot | undefined) => {
    const scanned = await readStakeTable(rpc, withdrawer, minSlot);
    countRows(scope, scanned.accounts.length);
    return scanned;
  };
  const table = await stakeTables
    .getOrScan(withdrawer, oldestSlot, scan, scope.cost)
    .catch(nullIf(STAKE_TABLES.isRefused));
  return table && describeStake(table, epoch);
}

function valueStake({ lamports, ...stake }: ReturnType<typeof describeStake>, price: Price | undefined) {
  const microUsd = price === undefined ? null : microUsdOf({ amount: lamports, decimals: SOL_DECIMALS }, price);
  return { ...stake, lamports: `${lamports}`, valueUsd: exactOrNull(microUsd) };
}

const exactOrNull = (millionths: bigint | null): PreSerialized<number> | null =>
  millionths === null ? null : toExactNumber(millionths, VALUE_DECIMALS);

/** Rows per turn of the event loop: a few milliseconds of work. */
const ITEMS_PER_CHUNK = 32;

interface Asset extends Position {
  readonly asset: 'SOL' | 'token';
  readonly symbol: string | null;
  readonly name: string | null;
  readonly program: 'native' | 'spl-token' | 'spl-token-2022';
  readonly uiAmountString: string;
  readonly tokenAccounts: readonly ListedTokenAccount[];
  readonly suspicious: boolean;
}

const isSol = ({ position }: ValuedPosition<Asset>): boolean => position.asset === 'SOL';

async function readBalances(
  { liveAccounts, tokenLists }: Uses<'liveAccounts' | 'tokenLists'>,
  owner: string,
  { mayWait, ...at }: Counted<ReadOptions> & { readonly mayWait: boolean },
) {
  const [balance, tokens] = await Promise.all([
    liveAccounts.read({ address: owner, shape: 'lamports', ...at, mayWait }),
    tokenLists.read({ owner, ...at, withIdentities: true, maxHeldMints: MAX_TOKENS, maxRounds: 1 }), // readAtOneSlot repeats the whole read
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
          decimals: SOL_DECIMALS,
          uiAmountString: toSol(lamports),
          tokenAccounts: [],
          isNft: false,
          suspicious: false,
        },
      ];

async function tokenAssets(list: TokenList, knownMints: KnownMints): Promise<Asset[]> {
  const byMint = new Map<string, [ListedTokenAccount, ...ListedTokenAccount[]]>();
  for (const account of list.accounts) {
    if (account.token.amount === 0n) continue;
    const others = byMint.get(account.token.mint);
    if (others === undefined) byMint.set(account.token.mint, [account]);
    else others.push(account);
  }
  return mapInChunks([...byMint], ITEMS_PER_CHUNK, ([mint, accounts]) => tokenAsset(mint, accounts, list, knownMints));
}

function tokenAsset(
  mint: string,
  tokenAccounts: readonly [ListedTokenAccount, ...ListedTokenAccount[]],
  list: TokenList,
  knownMints: KnownMints,
): Asset {
  const amount = tokenAccounts.reduce((sum, { token }) => sum + token.amount, 0n);
  const identity = list.identities?.get(mint);
  const described = tokenNameOf(identity);
  const name = described?.name || null;
  const symbol = tokenSymbolOf(mint, described);
  const { decimals, uiAmountString } = toTokenAmount(amount, scaleOf(list, mint));
  return {
    asset: 'token',
    mint,
    symbol,
    name,
    program: tokenAccounts[0].token.program,
    amount,
    decimals,
    uiAmountString,
    tokenAccounts,
    isNft: identity?.isNft === true && amount === 1n,
    suspicious: knownMints.isSuspicious({ mint, symbol, name }),
  };
}

function toItem(
  { position, price, microUsd, microShare }: ValuedPosition<Asset>,
  verifiedMints: ReadonlySet<string>,
): z.output<typeof itemSchema> {
  const { asset, mint, symbol, name, program, amount, decimals, uiAmountString, tokenAccounts, isNft } = position;
  const verified = verifiedMints.has(mint);
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
    accounts: Math.max(1, tokenAccounts.length),
    tokenAccounts: tokenAccounts.map(({ address, token }) => ({
      address,
      amount: `${token.amount}`,
      delegate: token.delegate,
      delegatedAmount: `${token.delegatedAmount}`,
      frozen: token.state === 'frozen',
    })),
    isNft,
    verified,
    suspicious: position.suspicious && !verified,
    priceUsd: price && toExactNumber(price.usd.units, price.usd.scale),
    priceSource: price?.source ?? null,
    priceSlot: price?.slot ?? null,
    priceTime: price?.time ?? null,
    stale: price?.stale === true,
    valueUsd: exactOrNull(microUsd),
    share: exactOrNull(microShare),
  };
}
