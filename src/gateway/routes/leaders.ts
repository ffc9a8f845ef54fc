import * as z from 'zod';
import type { Slot } from '../../shared/domain/slot.ts';
import { readSlotLeaders } from '../upstream/reads/network-statistics.ts';
import { slot } from './routing/params.ts';
import { readRoute, type Uses } from './routing/route.ts';
import { integer } from './routing/schemas.ts';

/** Slots of an answer: a leader has four in a row. https://solana.com/docs/terminology#leader-schedule */
const SLOTS = 16;

export const leaders = readRoute({
  path: '/leaders/:slot',
  summary: `Who leads a slot and the ${SLOTS - 1} after it, up to the end of the next epoch: each leader with its first slot of these`,
  params: { slot },
  result: z.array(z.strictObject({ slot: integer, leader: z.string() })).max(SLOTS),
  envelope: 'signed',
  cache: { ms: 10_000 },
  errors: ['not_found'],

  async resolve({ slot: first }, { callsFor }: Uses<'callsFor'>, scope) {
    const { slot, result } = await readSlotLeaders(callsFor(scope), first, SLOTS, scope.minSlot);
    return { slot, result: turnsOf(result, first) };
  },
});

const turnsOf = (leaders: readonly string[], first: Slot) =>
  leaders.flatMap((leader, at) => (leader === leaders[at - 1] ? [] : [{ slot: first + at, leader }]));
