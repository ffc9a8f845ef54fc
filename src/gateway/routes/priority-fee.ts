import * as z from 'zod';
import { liveRoute } from './routing/route.ts';
import { bigInteger, integer } from './routing/schemas.ts';

export const priorityFeeLevels = z.strictObject({
  min: bigInteger,
  low: bigInteger,
  medium: bigInteger,
  high: bigInteger,
  veryHigh: bigInteger,
  unsafeMax: bigInteger,
});

const PERCENTILES = Array.from({ length: 21 }, (_, i) => String(i * 5));

export const priorityFee = liveRoute({
  path: '/priority-fee',
  summary: 'Priority fees of the last 150 slots',
  result: z.strictObject({
    unit: z.literal('microLamportsPerComputeUnit'),
    priorityFeeEstimate: bigInteger,
    priorityFeeLevels,
    percentiles: z.strictObject(Object.fromEntries(PERCENTILES.map((percent) => [percent, bigInteger]))),
    slotsSampled: integer,
    fromSlot: integer,
    toSlot: integer,
    zeroShare: z.number().min(0).max(1),
    method: z.literal('min-per-slot'),
  }),
  envelope: 'signed',
  commitment: 'confirmed',
});
