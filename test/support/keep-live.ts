import type { SteppedHarness } from './harness.ts';

/** Returns the number of account reads at the node. */
export const accountReads = async ({ cluster }: SteppedHarness): Promise<number> =>
  (await cluster.control.requestCounts())['getMultipleAccounts'] ?? 0;

/** Reads a path in slot after slot until it is live and costs no reads. */
export async function keepLive(world: SteppedHarness, path: string): Promise<void> {
  for (let free = 0; free < 4; ) {
    const before = await accountReads(world);
    await world.get(path);
    await world.step();
    await world.get(path);
    free = (await accountReads(world)) === before ? free + 1 : 0;
  }
}
