import t from 'tap';
import { startEmbedded } from '../../../src/localnet/embedded.ts';
import { ask } from '../../support/ask.ts';

t.test('a cluster in a thread answers like a node, and is the same one after a restart, further on', async (t) => {
  const state = t.testdir();
  const first = await startEmbedded({ state, slotMs: 50, perSlot: 1 });
  t.equal(await ask(first.url, 'getGenesisHash'), first.genesisHash);
  const slots: number[] = [];
  while (slots.length < 5) {
    const slot = await ask(first.url, 'getSlot', [{ commitment: 'processed' }]);
    if (slot !== slots.at(-1)) slots.push(slot);
  }
  t.same(
    slots,
    [...slots].sort((a, b) => a - b),
  );
  t.match(await first.control.requests(), { getGenesisHash: 1 });
  await first.kill();
  t.equal(await first.ended, undefined);
  await t.rejects(ask(first.url, 'getSlot'), 'nobody answers');
  await t.rejects(first.control.fork(), { message: 'the embedded cluster has ended' });

  await first.close();

  const second = await startEmbedded({ state, slotMs: 50, perSlot: 1 });
  t.equal(second.genesisHash, first.genesisHash);
  const finalized = await ask(second.url, 'getSlot', [{ commitment: 'finalized' }]);
  t.ok(finalized > Number(slots.at(-1)), `${finalized} comes after ${slots.at(-1)}`);
  await second.close();
  t.equal(await second.ended, undefined);
});

t.test('a cluster that can not listen says why', async (t) => {
  const first = await startEmbedded({ state: t.testdir(), perSlot: 0 });
  const port = Number(new URL(first.url).port);
  await t.rejects(startEmbedded({ state: t.testdir(), perSlot: 0, port }), { message: /EADDRINUSE/ });
  await first.close();
});
