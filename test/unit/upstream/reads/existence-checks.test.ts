import t from 'tap';
import { blockExists, transactionExists } from '../../../../src/upstream/reads/existence-checks.ts';
import { connectScripted, notifyAll, startScriptedNode } from '../../../support/mesh-harness.ts';
import { waitUntil } from '../../../support/scripted-node.ts';

t.test('a call with a minimum slot is answered by a node that has reached it', async (t) => {
  const [late, first] = [await startScriptedNode(t), await startScriptedNode(t)];
  for (const node of [late, first]) {
    node.slots = { processed: 4999, confirmed: 4997, finalized: 4967 };
    node.replies.getTransaction = 'null';
    node.replies.getBlockTime = '1700000000';
  }
  const world = await connectScripted(t, [late, first]);
  const { mesh } = world;
  await notifyAll(world, [late, first], 5000);
  first.slots = { processed: 5006, confirmed: 5004, finalized: 4974 };
  first.notify('accountSubscribe', '{"context":{"slot":5004},"value":null}', 'confirmed');
  await waitUntil(() => mesh.tip('confirmed') === 5004);
  const signature = '5'.repeat(87);
  t.same(await transactionExists(mesh, signature, undefined), { slot: 4998, exists: false }, 'the late one will do');
  t.same(await transactionExists(mesh, signature, 5001), { slot: 5004, exists: false });
  t.same(await blockExists(mesh, 4000n, undefined), { slot: 4998, exists: true });
  t.same(await blockExists(mesh, 4000n, 5001), { slot: 5004, exists: true });
});
