import t from 'tap';
import { Chain } from '../../src/cluster/chain.ts';
import { openFaucet } from '../../src/cluster/faucet.ts';
import { keypair } from '../../src/cluster/keypair.ts';
import { ManualClock } from '../manual-clock.ts';

const SLOT_MS = 400;

async function startChain(clock = new ManualClock()) {
  const chain = await Chain.create({
    clock,
    genesisHash: keypair('a chain').address,
    originMs: clock.now() - 1000 * SLOT_MS,
    slotMs: SLOT_MS,
    skipEvery: 0,
    slotsPerEpoch: 64,
  });
  const faucet = openFaucet(chain);
  return { chain, faucet, clock };
}

t.test('a transfer is seen by each commitment when its slot gets there', async (t) => {
  const { chain, faucet } = await startChain();
  chain.tick();
  const bob = keypair('bob').address;
  const { slot } = faucet.airdrop(bob, 1_000_000_000n);
  t.equal(chain.account(bob, 'processed'), undefined, 'not before its block is made');
  const seenAfter = { processed: 0, confirmed: 0, finalized: 0 };
  for (let block = 1; block <= 40; block++) {
    chain.tick();
    for (const commitment of ['processed', 'confirmed', 'finalized'] as const) {
      const seen = chain.account(bob, commitment)?.lamports === 1_000_000_000n;
      t.equal(seen, chain.slot(commitment) >= slot);
      if (seen) seenAfter[commitment] ||= block;
    }
  }
  t.equal(seenAfter.processed, 1);
  t.ok([2, 3].includes(seenAfter.confirmed));
  t.equal(seenAfter.finalized, 33);
});
