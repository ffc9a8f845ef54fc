import { z } from 'zod';
import { COMMITMENTS } from '../domain/commitment.ts';
import { describeEpoch } from '../domain/epoch-info.ts';
import { commitment } from '../routing/params.ts';
import { readRoute, type Uses } from '../routing/route.ts';
import { bigInteger, integer } from '../routing/schemas.ts';
import { readEpochInfo } from '../upstream/reads/network-statistics.ts';

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
  commitmentOf: ({ commitment }) => commitment,

  async resolve({ commitment }, { mesh, vitals, clock }: Uses<'mesh' | 'vitals' | 'clock'>, { minSlot }) {
    const { slot, result } = await readEpochInfo(mesh, commitment, minSlot);
    return { slot, result: describeEpoch(result, vitals.slotTimeMs, clock.now()) };
  },
});
