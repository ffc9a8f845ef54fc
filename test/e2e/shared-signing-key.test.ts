import t from 'tap';
import { WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { startGatewayOver, startStepped, waitFor } from '../support/harness.ts';

const state = t.testdir();
const first = await startStepped(t, { state, receiptKey: null });
const { clock, node, cluster, step } = first;
const upstream = `${node.url},${cluster.wsUrl}`;
const target = `/balance/${WALLETS[0].address}?commitment=finalized`;
type World = Pick<typeof first, 'get'>;
const claimOf = async ({ get }: World): Promise<string> => (await get(target)).json.receipt.claim;

t.test('of two gateways with one key the second signs nothing exact until the first has ended', async (t) => {
  const second = await startGatewayOver(t, upstream, clock, { state, receiptKey: null });
  t.equal(second.gateway.publicKey, first.gateway.publicKey);
  await waitFor(async () => {
    await step();
    return (await claimOf(first)) === 'exact/1';
  }, 'a finalized slot that the first saw come');
  t.equal(await claimOf(second), 'observed/1');
  t.same([first.gateway.signsAlone, second.gateway.signsAlone], [true, false]);
  t.equal(second.logged.filter(({ message }) => /another process may be signing/.test(message)).length, 1);

  await first.gateway.close();
  await waitFor(() => {
    clock.advance(400);
    return second.gateway.signsAlone;
  }, 'the second alone');
  await waitFor(async () => {
    clock.advance(400);
    return (await claimOf(second)) === 'exact/1';
  }, 'a finalized slot that the second saw come since');
  t.ok(second.logged.some(({ message }) => /this process alone signs/.test(message)));
});

t.test('an inline key may be in use elsewhere, so it signs nothing exact', async (t) => {
  const inline = '22'.repeat(32);
  const world = await startGatewayOver(t, upstream, clock, { receiptKey: { inline, production: true } });
  t.notOk(world.gateway.signsAlone);
  t.ok(
    world.logged.some(
      ({ level, message }) => level === 'warn' && /RECEIPT_KEY may be in use by another process/.test(message),
    ),
  );
});
