import { setTimeout as sleep } from 'node:timers/promises';
import type { Chain } from '../../src/localnet/bank/chain.ts';
import { type GatewayHarness, type SteppedHarness, waitFor } from './harness.ts';

/** Time of a slot in milliseconds. */
const SLOT_MS = 400;

/** Records what each block changes from now on, by the id of the event: the lamports of an account after it. */
export function recordChanges(chain: Chain, accounts: readonly string[]): ReadonlyMap<string, bigint> {
  const changes = new Map<string, bigint>();
  const last = new Map<string, bigint>();
  chain.onSlot(({ processed: { slot } }) => {
    for (const [index, address] of accounts.entries()) {
      const lamports = chain.accountAt(address, slot)?.lamports ?? 0n;
      if (lamports !== (last.get(address) ?? 0n)) changes.set(`${slot}.${index}`, lamports);
      last.set(address, lamports);
    }
  });
  return changes;
}

/** Moves the cluster on by a slot, and waits until the gateway has followed, which may not be the world's first. */
export async function stepGateway(
  { cluster, clock }: Pick<SteppedHarness, 'cluster' | 'clock'>,
  { get }: Pick<GatewayHarness, 'get'>,
): Promise<void> {
  clock.advance(SLOT_MS);
  await waitFor(async () => (await get('/health')).json.result?.slot === cluster.chain.slot('processed'), 'the slot');
  await sleep(2); // for what comes over the feed's own connection
  for (let waits = 0; waits < MAX_FEED_WAITS && (await isFeedBehind(get)); waits++) await sleep(2);
}

/** A feed that is silent by intent is not waited for longer: {@link stepGateway} moves on. */
const MAX_FEED_WAITS = 25;

/** Whether a feed that is up has less than what a step behind gives it: on a busy machine it would count as silent. */
async function isFeedBehind(get: GatewayHarness['get']): Promise<boolean> {
  const { slot = 0, geyser } = (await get('/health')).json.result ?? {};
  return geyser?.status === 'up' && geyser.slot < slot - MAX_FEED_SLOTS;
}

/** The slots that a feed of confirmed blocks is behind the newest slot. */
const MAX_FEED_SLOTS = 2;
