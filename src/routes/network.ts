import { z } from 'zod';
import { liveRoute } from '../routing/route.ts';
import { bigInteger, integer } from '../routing/schemas.ts';
import { priorityFeeLevels } from './priority-fee.ts';

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
    health: z.enum(['ok', 'degraded']),
    seq: integer,
    stream: z.string(),
    updatedAt: integer,
  }),
  envelope: 'anchored',
  commitment: 'processed',
});
