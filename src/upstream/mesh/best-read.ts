import type { Clock } from '../../domain/clock.ts';
import type { Commitment } from '../../domain/commitment.ts';
import { GatewayError } from '../../domain/error.ts';
import type { Read } from '../../domain/read-method.ts';
import type { Slot } from '../../domain/slot.ts';
import { firstGood } from '../failsafe/attempts.ts';
import type { CallOptions, Reading } from '../rpc/call.ts';
import { commitmentOf, floorOf, isFloor } from '../rpc/reading.ts';
import { faultOf, slowDown, unreachable } from '../rpc/rpc-errors.ts';
import { inKeptOrder, inOrder } from './choice.ts';
import { BEHIND_SLOTS, type Member } from './member.ts';

/** What lies far back, and what only a node that keeps it all can deny. */
const HISTORY: ReadonlySet<Read> = new Set(['getBlock', 'getBlockTime', 'getTransaction', 'getSignaturesForAddress']);

export interface Readers {
  readonly members: readonly Member[];
  readonly clock: Clock;
  readonly random: () => number;
  tip(commitment: Commitment): Slot | undefined;
}

/** Reads from the node that is best for it, and from the others where they may do better. All within one time limit. */
export async function bestRead(
  { members, clock, random, tip }: Readers,
  method: Read,
  params: readonly unknown[],
  { commitment: anchorAt = 'confirmed', minSlot = 0, affinity }: CallOptions,
): Promise<Reading> {
  const commitment = commitmentOf(params) ?? anchorAt;
  const floor = Math.max(floorOf(params) ?? 0, minSlot);
  const able = ready(members, method).map((member) => ({ member, ...member.choice(method, commitment, floor) }));
  const ordered = affinity === undefined ? inOrder(able, random) : inKeptOrder(able, affinity);
  const order = keepersSecond(
    ordered.map(({ member }) => member),
    method,
  );
  const [first] = order;
  if (first === undefined) throw unreachable();

  const endMs = clock.monotonic() + first.node.limitMs(method);
  const oldest = Math.min(tip(anchorAt) ?? 0, tip(commitment) ?? 0) - BEHIND_SLOTS;
  const keeper = order.some(({ archival }) => archival);
  const tries = order.map((member) => async () => {
    if (clock.monotonic() >= endMs) throw new GatewayError('upstream_timeout', 'no node answered in time');
    return { member, reading: await member.read(method, params, { anchorAt, floor, endMs }) };
  });
  const { reading } = await firstGood({
    tries,
    clock,
    hedgeAfterMs: first.node.hedgeAfterMs(method),
    settles({ member, reading: { slot, result } }) {
      if (slot < oldest && !isFloor(method, params)) return false;
      return member.archival || !keeper || !HISTORY.has(method) || result.toString('latin1', 0, 4) !== 'null';
    },
    isFinal: (thrown) => saying(thrown) === FINAL,
    worse: (thrown, than) => saying(thrown) < saying(than),
  });
  return reading;
}

/** Those that may be asked now. Throws when there is none, with the time to wait if they want to be left alone. */
function ready(members: readonly Member[], method: Read): readonly Member[] {
  const able = members.filter(({ trusted, skills, node }) => trusted && skills.may(method) && node.breaker.ready);
  const rested = able.filter(({ node }) => node.pauseSeconds(method) === 0);
  if (rested.length > 0 || able.length === 0) return rested;
  throw slowDown(Math.min(...able.map(({ node }) => node.pauseSeconds(method))));
}

/** A node that keeps the whole ledger is the next to ask after one that doesn't know. */
function keepersSecond(order: readonly Member[], method: Read): readonly Member[] {
  const [first, ...rest] = order;
  if (first === undefined || !HISTORY.has(method)) return order;
  return [first, ...rest.filter(({ archival }) => archival), ...rest.filter(({ archival }) => !archival)];
}

const FINAL = 3;

/** How much a failure says: {@link FINAL} when it would be the same everywhere, least when the node didn't speak. */
function saying(thrown: unknown): number {
  if (!(thrown instanceof GatewayError)) return FINAL; // a defect
  if (thrown.code === 'overloaded') return 0; // not even asked: another may have room
  switch (faultOf(thrown)) {
    case 'caller':
    case 'fact':
      return FINAL;
    case 'not-yet':
    case 'node-limit':
      return 2;
    case 'rate-limit':
      return 1;
    case 'transport':
      return 0;
  }
}
