import * as z from 'zod';
import { COMMITMENTS } from '../../shared/domain/commitment.ts';
import { describeEpoch } from '../../shared/domain/epoch-info.ts';
import { readEpochInfo } from '../upstream/reads/network-statistics.ts';
import { commitment } from './routing/params.ts';
import { readRoute, type Uses } from './routing/route.ts';
import { bigInteger, integer } from './routing/schemas.ts';

export const epoch = readRoute({
  path: '/epoch',
  summary: 'The current epoch, its progress, and its estimated end',
  params: { commitment: commitment('confirmed', COMMITMENTS) },
  result: z.strictObject({
    epoch: integer,
    slotIndex: integer,
    slotsInEpoch: integer,
    absoluteSlot: integer,
    blockHeight: integer,
    transactionCount: bigInteger.nullable(),
    epochProgress: z.number().min(0).max(1),
    slotsRemaining: integer,
    estimatedEndTime: integer,
  }),
  envelope: 'signed',
  cache: { slots: 3 },

  async resolve({ commitment }, { callsFor, mesh, clock }: Uses<'callsFor' | 'mesh' | 'clock'>, scope) {
    const { slot, result } = await readEpochInfo(callsFor(scope), commitment, scope.minSlot);
    return { slot, result: describeEpoch(result, mesh.slotTimeMs, clock.now()) };
  },
});
