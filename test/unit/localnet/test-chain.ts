import { Chain, type ChainOptions } from '../../../src/localnet/bank/chain.ts';
import { deriveKeypair } from '../../../src/localnet/traffic/demo-keypair.ts';
import { ManualClock } from '../../support/manual-clock.ts';

/** Creates a chain without a block, a thousand slots after its origin. Its genesis hash follows from the name. */
export async function createTestChain(name: string, options: Partial<ChainOptions> = {}) {
  const clock = new ManualClock();
  const genesisHash = deriveKeypair(name).address;
  const defaults = {
    clock,
    genesisHash,
    originMs: clock.now() - 400_000,
    slotMs: 400,
    skipEvery: 0,
    slotsPerEpoch: 64,
  };
  return { clock, chain: await Chain.create({ ...defaults, ...options }) };
}
