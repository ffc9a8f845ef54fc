import * as z from 'zod';
import { ownTurn } from '../../shared/runtime/own-turn.ts';
import { MAX_ROWS, REQUESTED_STEPS, SPANS } from '../network-history/network-history.ts';
import { networkRow } from '../network-history/network-row.ts';
import { oneOf } from './routing/params.ts';
import { readRoute, type Uses } from './routing/route.ts';

const SPAN_NAMES = Object.keys(SPANS) as (keyof typeof SPANS)[]; // the names it has

export const networkHistory = readRoute({
  path: '/network/history',
  summary:
    'The network over time, as this gateway saw it: a row for each slot, ten seconds or minute of up to seven days',
  params: {
    step: oneOf('60', REQUESTED_STEPS, 'The length of a row in seconds, or a slot; a longer span raises it'),
    span: oneOf('1h', SPAN_NAMES, 'The time before now'),
  },
  result: z.strictObject({
    step: z.union([z.literal('slot'), z.literal([10, 60, 600])]).describe('The length of a row in seconds, or a slot'),
    span: z.enum(SPAN_NAMES),
    rows: z.array(networkRow).max(MAX_ROWS).readonly().describe('The oldest first; none while the gateway did not run'),
  }),
  envelope: 'signed',
  cache: { ms: 2000 },
  claimNumberOf: () => 2,

  async resolve({ step, span }, { networkHistory, mesh }: Uses<'networkHistory' | 'mesh'>) {
    const slot = mesh.tip('confirmed') ?? 0;
    const result = networkHistory.read(step, span, slot);
    await ownTurn(); // to join a week's rows takes about as long as to write the JSON of a thousand
    return { slot, result };
  },
});
