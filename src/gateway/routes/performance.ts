import * as z from 'zod';
import { liveRoute } from './routing/route.ts';
import { bigInteger, integer } from './routing/schemas.ts';

export const performance = liveRoute({
  path: '/performance',
  summary: 'Recent performance of the cluster: a row a minute, newest first, at most 60',
  result: z
    .array(
      z.strictObject({
        slot: integer,
        numTransactions: bigInteger,
        numNonVoteTransactions: bigInteger.nullable(),
        numSlots: integer,
        samplePeriodSecs: integer,
        tps: z.number(),
        nonVoteTps: z.number().nullable(),
        slotTimeMs: z.number().nullable(),
      }),
    )
    .max(60),
  envelope: 'signed',
  commitment: 'confirmed',
});
