import t from 'tap';
import { GatewayError } from '../../../src/domain/gateway-error.ts';
import type { Slot } from '../../../src/domain/slot.ts';
import { SharedListings } from '../../../src/tokens/owner-listing.ts';
import { addressFromByte } from '../../support/token-account-fixtures.ts';

const OWNER = addressFromByte(1);
const CALLS_PER_LISTING = 2;

/** Listings over a node at a slot, which a test moves; it refuses what it has not reached. */
function open() {
  const node = { slot: 100, tip: 100, calls: 0, isDown: false };
  const call = async (_method: string, params: readonly unknown[] = []) => {
    const { minContextSlot = 0 } = params.at(-1) as { minContextSlot?: Slot };
    node.calls++;
    const value = Buffer.from('[]');
    await new Promise(setImmediate);
    if (node.isDown) throw new GatewayError('upstream_unavailable', 'down');
    if (minContextSlot > node.slot) throw new GatewayError('rpc_error', 'behind', { status: 503, rpcCode: -32016 });
    return { slot: node.slot, value, result: value };
  };
  const listings = new SharedListings({ tip: () => node.tip });
  const list = (minContextSlot?: Slot) =>
    listings.list({ call }, OWNER, { commitment: 'confirmed', minContextSlot }).then(({ slots }) => slots);
  return { node, list };
}

t.test('reads that begin at one tip share a listing, until the tip moves', async (t) => {
  const { node, list } = open();
  t.same(await Promise.all([list(), list(90), list(100)]), Array(3).fill([100, 100]));
  t.same(await list(), [100, 100], 'also when it is complete');
  t.equal(node.calls, CALLS_PER_LISTING);
  node.slot = node.tip = 101;
  t.same(await list(), [101, 101]);
  t.equal(node.calls, 2 * CALLS_PER_LISTING);
});

t.test('a listing that is older than the slot of a reader is read anew', async (t) => {
  const { node, list } = open();
  node.slot = 99;
  await list();
  node.slot = 100;
  t.same(await list(100), [100, 100]);
  t.same(await list(), [100, 100], 'the newer one is shared from then on');
  t.equal(node.calls, 2 * CALLS_PER_LISTING);
});

t.test('the slot that one caller wants fails nobody else', async (t) => {
  const { node, list } = open();
  node.slot = 99;
  for (const wanted of [100, 105]) {
    const results = await Promise.allSettled([list(wanted), list()]);
    t.same(
      results.map(({ status }) => status),
      ['rejected', 'fulfilled'],
    );
  }
});

t.test('a failure is shared, and not remembered', async (t) => {
  const { node, list } = open();
  node.isDown = true;
  const results = await Promise.allSettled([list(), list(50)]);
  t.same(
    results.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  t.equal(node.calls, CALLS_PER_LISTING);
  node.isDown = false;
  t.same(await list(), [100, 100]);
});
