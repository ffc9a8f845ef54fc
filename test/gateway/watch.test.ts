import t from 'tap';
import { WALLETS } from '../../src/cluster/economy/cast.ts';
import { openStepped, type SteppedWorld } from './open.ts';

const WALLET = WALLETS[0].address;

/** How often the cluster was asked for accounts over HTTP. */
const reads = async ({ cluster }: SteppedWorld): Promise<number> => {
  const requests = await cluster.control.requests();
  return (requests['getMultipleAccounts'] ?? 0) + (requests['getAccountInfo'] ?? 0) + (requests['getBalance'] ?? 0);
};

t.test('an account that is read all the time costs no upstream request any more, and its slot moves on', async (t) => {
  const world = await openStepped(t);
  const { get, step } = world;
  for (let i = 0; i < 12; i++) {
    const { json, headers } = await get(`/balance/${WALLET}`);
    t.comment(
      json.slot,
      json.result.lamports,
      world.cluster.chain.slot('confirmed'),
      headers.get('x-cache'),
      await reads(world),
    );
    await step();
  }
});
