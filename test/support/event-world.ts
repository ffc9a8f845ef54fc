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
}
