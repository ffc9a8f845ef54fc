import t from 'tap';
import { startEmbeddedCluster } from '../../../src/localnet/embedded-cluster.ts';
import { rpcRequest } from '../../support/rpc-request.ts';

t.test('a cluster in a thread answers like a node, and continues with the same genesis after a restart', async (t) => {
  const state = t.testdir();
  const first = await startEmbeddedCluster({ state, slotMs: 50, transactionsPerSlot: 1 });
  t.equal(await rpcRequest(first.url, 'getGenesisHash'), first.genesisHash);
  const slots: number[] = [];
  while (slots.length < 5) {
    const slot = await rpcRequest(first.url, 'getSlot', [{ commitment: 'processed' }]);
    if (slot !== slots.at(-1)) slots.push(slot);
  }
  t.same(
    slots,
    [...slots].sort((a, b) => a - b),
  );
  t.match(await first.control.requestCounts(), { getGenesisHash: 1 });
  await first.kill();
  t.equal(await first.ended, undefined);
  await t.rejects(rpcRequest(first.url, 'getSlot'), 'connections are refused');
  await t.rejects(first.control.fork(), { message: 'the embedded cluster has ended' });

  await first.close();

  const second = await startEmbeddedCluster({ state, slotMs: 50, transactionsPerSlot: 1 });
  t.equal(second.genesisHash, first.genesisHash);
  const finalized = await rpcRequest(second.url, 'getSlot', [{ commitment: 'finalized' }]);
  t.ok(finalized > Number(slots.at(-1)), `${finalized} comes after ${slots.at(-1)}`);
  await second.close();
  t.equal(await second.ended, undefined);
});

t.test('a cluster that can not listen reports the reason', async (t) => {
  const first = await startEmbeddedCluster({ state: t.testdir(), transactionsPerSlot: 0 });
  const port = Number(new URL(first.url).port);
  await t.rejects(startEmbeddedCluster({ state: t.testdir(), transactionsPerSlot: 0, port }), {
    message: /EADDRINUSE/,
  });
  await first.close();
});
