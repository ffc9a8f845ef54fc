import { z } from 'zod';
import { GatewayError } from '../domain/gateway-error.ts';
import { commitment, slot } from '../routing/params.ts';
import { readRoute, type Uses } from '../routing/route.ts';
import { bigInteger, integer } from '../routing/schemas.ts';
import { blockNotAvailable, readBlockSummary } from '../upstream/reads/block-summary.ts';

/** The most units of a miss: a response of 32 MiB, the most that a node may send, and some 3,000 transactions. */
const MOST_UNITS = 64;

export const block = readRoute({
  path: '/block/:slot',
  summary: 'Summary of a block; `slot` in the envelope is that of the answer, not of the block',
  params: { slot, commitment: commitment('confirmed', ['confirmed', 'finalized']) },
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
      computeUnitsConsumed: bigInteger.nullable(),
      signatures: z.array(z.string()).readonly(),
    }),
    rewardLamports: bigInteger.nullable(),
    leader: z.string().nullable(),
  }),
  mostUnitsOf: () => MOST_UNITS,
  envelope: 'signed',
  cache: { slots: 2 },
  finalForOf: () => 'immutable',
  claimNumberOf: () => 2,
  commitmentOf: ({ commitment }) => commitment,
  isExact: ({ commitment }) => commitment === 'finalized',
  errors: ['invalid_slot', 'slot_skipped', 'block_not_available', 'block_pruned'],

  async resolve(
    { slot: blockSlot, commitment: requestedCommitment },
    { mesh, seenBlocks, countRows }: Uses<'mesh' | 'seenBlocks' | 'countRows'>,
    { minSlot },
  ) {
    if (blockSlot > (mesh.tip('processed') ?? -1)) throw blockNotAvailable();
    const final = requestedCommitment === 'finalized' || blockSlot <= (mesh.tip('finalized') ?? -1);
    const reading = readBlockSummary(mesh, blockSlot, { commitment: requestedCommitment, minSlot });
    const { slot, block } = await reading.catch(final ? throwFinalIfSkipped : undefined);
    const { blockhash, parentSlot, previousBlockhash, blockHeight, blockTime, transactions, ...reward } = block;
    countRows(transactions.count);
    seenBlocks.add(blockhash, blockSlot);
    const commitment = final ? ('finalized' as const) : ('confirmed' as const);
    return {
      slot,
      result: {
        slot: blockSlot,
        blockhash,
        parentSlot,
        previousBlockhash,
        blockHeight,
        blockTime,
        commitment,
        transactions,
        ...reward,
      },
      final,
    };
  },
});

/** Marks `slot_skipped` as final: at or below the finalized slot, a skipped slot never gets a block. */
function throwFinalIfSkipped(thrown: unknown): never {
  if (!(thrown instanceof GatewayError) || thrown.code !== 'slot_skipped') throw thrown;
  throw new GatewayError(thrown.code, thrown.message, { final: true, cause: thrown });
}
