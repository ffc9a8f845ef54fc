import * as z from 'zod';
import type { Agreement } from '../../../shared/domain/agreement.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { RawJson } from '../../../shared/domain/to-json.ts';
import { countRows } from '../../../shared/domain/units.ts';
import { TRANSACTION_TYPES, type TransactionType } from '../../../transactions/index.ts';
import { checkNotFarAhead, servedSlotNotReached } from '../../serving/min-slot.ts';
import {
  type BlockSummary,
  blockNotAvailable,
  isLeftOut,
  readBlockSummary,
  readFullBlock,
} from '../../upstream/reads/block-summary.ts';
import type { RpcCaller } from '../../upstream/rpc/rpc-response.ts';
import type { BlockListing, BlockListingRead } from '../routing/block-listings.ts';
import { agree as agreeParam, commitment, optionalLiteral, page, slot } from '../routing/params.ts';
import { agreeFor, type RequestScope, requesterOf } from '../routing/request-scope.ts';
import { readRoute, type Uses } from '../routing/route.ts';
import { bigInteger, integer, preSerialized } from '../routing/schemas.ts';
import { LISTING_PAGE_SIZE } from './list-block.ts';

/** The bytes of a block that are read in the time of one row, where its transactions are longer than usual. */
const BYTES_PER_ROW = 4096;

/** The rows that a listing counts as at least: a thread makes it, with more of each transaction than a summary has. */
const LEAST_LISTING_ROWS = 800;

/** The most units of a miss: a response of 32 MiB, the most that a node may send. */
const MOST_UNITS = 112;

/** The time for which pages of a block that is not final come from one read. */
const UNFINISHED_TTL_MS = 10_000;
const TYPE_NAMES = Object.keys(TRANSACTION_TYPES) as [TransactionType, ...TransactionType[]]; // the names it has

const listedTransaction = z.strictObject({
  signature: z.string(),
  status: z.enum(['success', 'failed']).nullable(),
  type: z.enum(TYPE_NAMES).describe('A guess from the called programs alone: `/tx/{sig}?enhanced=1` has the type'),
  programs: z.array(z.string()),
});

const listing = z.strictObject({
  page: integer,
  pageSize: z.literal(LISTING_PAGE_SIZE),
  total: integer,
  hasMore: z.boolean(),
  items: preSerialized(z.array(listedTransaction)),
  programs: z
    .array(z.strictObject({ programId: z.string(), name: z.string().nullable(), count: integer }))
    .readonly()
    .describe('The programs that most transactions of the block called'),
  otherPrograms: integer,
});

export const block = readRoute({
  path: '/block/:slot',
  summary: 'Summary of a block; `slot` in the envelope is that of the answer, not of the block',
  params: {
    slot,
    signatures: optionalLiteral('all', 'With `all`: besides, a page of its transactions, 100 each, in their order'),
    page,
    commitment: commitment('confirmed', ['confirmed', 'finalized']),
    agree: agreeParam,
  },
  result: z.strictObject({
    slot: integer,
    blockhash: z.string(),
    parentSlot: integer,
    previousBlockhash: z.string(),
    blockHeight: integer.nullable(),
    blockTime: integer.nullable(),
    commitment: z.enum(['confirmed', 'finalized']),
    transactions: z.strictObject({
      count: integer,
      voteCount: integer,
      nonVoteCount: integer,
      successCount: integer,
      failedCount: integer,
      feesLamports: bigInteger,
      priorityFeesLamports: bigInteger.describe(
        'Fees beyond 5,000 lamports for each signature of a transaction; what its precompiles check counts here',
      ),
      tipsLamports: bigInteger.describe("What Jito's eight tip accounts received"),
      computeUnitsConsumed: bigInteger
        .nullable()
        .describe('Null without `signatures=all`: a summary is not read with it'),
      signatures: z.array(z.string()).readonly(),
    }),
    rewardLamports: bigInteger.nullable(),
    leader: z.string().nullable(),
    rewards: z
      .array(z.strictObject({ kind: z.string().nullable(), count: integer, lamports: bigInteger }))
      .readonly()
      .nullable(),
    listing: listing.optional(),
  }),
  mostUnitsOf: () => MOST_UNITS,
  envelope: 'signed',
  cache: { slots: 2 },
  finalForOf: () => 'immutable',
  claimNumberOf: () => 2,
  isExact: ({ commitment }) => commitment === 'finalized',
  errors: ['invalid_slot', 'invalid_page', 'slot_skipped', 'block_not_available', 'block_pruned', 'no_agreement'],

  async resolve({ slot: blockSlot, signatures, page, commitment: requested }, context: BlockUses, scope) {
    const { minSlot, namedSlot = 0, agree: demanded } = scope;
    const { mesh, seenBlocks } = context;
    if (signatures === undefined && page > 1)
      throw new GatewayError('invalid_page', 'a block has pages with signatures=all only');
    if (namedSlot > (mesh.tip(requested) ?? 0)) throw servedSlotNotReached(); // its block may come
    checkNotFarAhead('block_not_available', blockSlot, 'processed', mesh);
    if (blockSlot > (mesh.tip('processed') ?? -1)) throw blockNotAvailable();
    const final = requested === 'finalized' || blockSlot <= (mesh.tip('finalized') ?? -1);
    const agree = agreeFor(scope, context, final);
    const options = { commitment: requested, minSlot, namedSlot, final, agree, demanded };
    const remember = seenBlocks.beginRead();
    const reading =
      signatures === 'all'
        ? readListed(context, scope, blockSlot, options)
        : readSummary(context, scope, blockSlot, options);
    const { slot, block, listing, agreement } = await reading.catch(
      final ? throwFinalIfLeftOut(context.callsFor(scope), blockSlot) : undefined,
    );
    remember(block.blockhash, blockSlot);
    const { blockhash, parentSlot, previousBlockhash, blockHeight, blockTime, ...counts } = block;
    const result = {
      slot: blockSlot,
      blockhash,
      parentSlot,
      previousBlockhash,
      blockHeight,
      blockTime,
      commitment: final ? ('finalized' as const) : ('confirmed' as const),
      ...counts,
      ...(listing && { listing: pageOf(listing, page) }),
    };
    return { slot, agreement, result, final, fromSnapshot: listing !== undefined };
  },
});

type BlockUses = Uses<'operators' | 'callsFor' | 'mesh' | 'decoder' | 'blockListings' | 'seenBlocks'>;

interface BlockOptions extends Required<Pick<RequestScope, 'minSlot' | 'namedSlot'>> {
  readonly commitment: 'confirmed' | 'finalized';
  /** Whether the cluster can't change the block any more. */
  readonly final: boolean;
  /** Operators that must give the same, and those that the caller demands. */
  readonly agree: number;
  readonly demanded: number | undefined;
}

interface BlockRead {
  readonly slot: Slot;
  readonly block: BlockSummary;
  readonly listing?: BlockListing;
  readonly agreement: Agreement | undefined;
}

async function readSummary(
  { callsFor }: BlockUses,
  scope: RequestScope,
  blockSlot: Slot,
  options: BlockOptions,
): Promise<BlockRead> {
  const read = await readBlockSummary(callsFor(scope), blockSlot, options);
  countRows(scope, rowsOf(read.block, read.bytes));
  return read;
}

/** Returns the rows that a block counts as: its transactions, or more if they are long. */
const rowsOf = ({ transactions }: BlockSummary, bytes: number): number =>
  Math.max(transactions.count, Math.ceil(bytes / BYTES_PER_ROW));

async function readListed(
  { callsFor, mesh, decoder, blockListings }: BlockUses,
  scope: RequestScope,
  blockSlot: Slot,
  options: BlockOptions,
): Promise<BlockRead> {
  const read = async (): Promise<BlockListingRead> => {
    const { slot, result, agreement } = await readFullBlock(callsFor(scope), blockSlot, options);
    const listing = await decoder.listBlock(result, requesterOf({ cost: scope.cost })); // others may wait for it, too
    countRows(scope, Math.max(LEAST_LISTING_ROWS, rowsOf(listing.block, result.length)));
    return { slot, listing, agreement };
  };
  const { commitment, namedSlot, final, agree } = options;
  const key = `${blockSlot} ${final ? 'finalized' : commitment} ${agree}`;
  const bounds = final ? { ttlMs: 0, minSlot: 0 } : { ttlMs: UNFINISHED_TTL_MS, minSlot: namedSlot };
  const { slot: readAt, listing, agreement } = await blockListings.getOrRead(key, bounds, read);
  const tip = final ? mesh.tip(commitment) : undefined; // a final block is the same at every later slot
  const slot = Math.max(readAt, tip ?? 0);
  return { slot, block: listing.block, listing, agreement: agreement && { ...agreement, slot } };
}

function pageOf({ block, rows, pageEnds, programs, otherPrograms }: BlockListing, page: number) {
  const [start, end] = [page === 1 ? 0 : pageEnds[page - 2], pageEnds[page - 1]];
  const text = start === undefined || end === undefined ? '' : Buffer.from(rows.subarray(start, end)).toString();
  return {
    page,
    pageSize: LISTING_PAGE_SIZE as typeof LISTING_PAGE_SIZE,
    total: block.transactions.count,
    hasMore: page < pageEnds.length,
    items: new RawJson(`[${text}]`),
    programs,
    otherPrograms,
  };
}

/** Marks `slot_skipped` as final where the finalized chain proves it. */
const throwFinalIfLeftOut =
  (rpc: RpcCaller, slot: Slot) =>
  async (thrown: unknown): Promise<never> => {
    if (!(thrown instanceof GatewayError) || thrown.code !== 'slot_skipped') throw thrown;
    if (!(await isLeftOut(rpc, slot).catch(() => false))) throw thrown;
    throw new GatewayError('slot_skipped', 'the slot has no block and never will', { final: true, cause: thrown });
  };
