import * as z from 'zod';
import { CLUSTER_CONSENSUSES } from '../../shared/domain/cluster-consensus.ts';
import { priorityFeeLevels } from './priority-fee.ts';
import { liveRoute } from './routing/route.ts';
import { bigInteger, integer } from './routing/schemas.ts';

export const network = liveRoute({
  path: '/network',
  summary: 'The network in one view: the newest frame of the stream',
  result: z.strictObject({
    slot: integer,
    blockHeight: integer.nullable(),
    epoch: integer,
    epochProgress: z.number().min(0).max(1),
    slotIndex: integer,
    slotsInEpoch: integer,
    tps: z.number().nullable(),
    nonVoteTps: z.number().nullable(),
    slotTimeMs: z.number().nullable(),
    priorityFee: bigInteger.nullable(),
    priorityFeeLevels: priorityFeeLevels.nullable(),
    transactionCount: bigInteger.nullable(),
    consensus: z
      .enum(CLUSTER_CONSENSUSES)
      .nullable()
      .describe(
        'Under alpenglow confirmed and finalized are one, and votes are no transactions; null if no node says it',
      ),
    health: z.enum(['ok', 'degraded']),
    seq: integer,
    stream: z.string(),
    updatedAt: integer,
  }),
  envelope: 'anchored',
  commitment: 'processed',
});
