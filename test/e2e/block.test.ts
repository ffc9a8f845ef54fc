import t from 'tap';
import { assertRefusedWithoutUpstream, createDocumentChecker } from '../support/assert-documented.ts';
import { startStepped } from '../support/harness.ts';

const world = await startStepped(t, { perSlot: 2, skipEvery: 7 });
const { get, cluster, step } = world;
const { chain, control } = cluster;
await step(60, 4);
const fits = await createDocumentChecker(world);
const calls = async (): Promise<number> => (await control.requestCounts())['getBlock'] ?? 0;

/** A slot below the finalized one that has a block with transactions in it, or has none. */
function below(distance: number, skipped = false): number {
  let slot = chain.slot('finalized') - distance;
  while (chain.isSkipped(slot) !== skipped || chain.block(slot)?.transactions.length === 0) slot--;
  return slot;
}

t.test('a block is told by what it comes to', async (t) => {
  const slot = below(3);
  const block = chain.block(slot);
  const got = await get(`/block/${slot}`);
  fits(t, '/block/{slot}', got);
  const transactions = block?.transactions ?? [];
  const failed = transactions.filter(({ error }) => error !== null).length;
  const fees = transactions.reduce((sum, { fee }) => sum + fee, 0n);
  const signatures = transactions.reduce((sum, { transaction }) => sum + transaction.signatures.length, 0);
  t.ok(transactions.length > 0);
  const { result, slot: at, receipt } = got.json;
  t.same(result, {
    slot,
    blockhash: block?.hash,
    parentSlot: block?.parentSlot,
    previousBlockhash: block?.parentHash,
    blockHeight: block?.height,
    blockTime: block?.blockTime,
    commitment: 'finalized',
    transactions: {
      count: transactions.length,
      voteCount: 0,
      nonVoteCount: transactions.length,
      successCount: transactions.length - failed,
      failedCount: failed,
      feesLamports: Number(fees),
      priorityFeesLamports: Number(fees) - 5000 * signatures,
      tipsLamports: 0,
      computeUnitsConsumed: null,
      signatures: transactions.map(({ signature }) => signature),
    },
    rewardLamports: result.rewardLamports,
    leader: chain.identity,
    rewards: [{ kind: 'Fee', count: 1, lamports: result.rewardLamports }],
  });
  const burned = Number(fees) - result.rewardLamports;
  t.ok(
    burned >= transactions.length * 2500 && burned % 2500 === 0,
    'half of 5,000 lamports for each signature is burned',
  );
  t.equal(at, chain.slot('confirmed'), 'the answer is about now, its block about then');
  t.match(receipt, { commitment: 'confirmed', claim: 'observed/2' });
});

t.test('all transactions of a block are listed from one read of it', async (t) => {
  const slot = below(12);
  const landed = chain.block(slot)?.transactions ?? [];
  const { result: plain } = (await get(`/block/${slot}`)).json;
  const before = await calls();
  const got = await get(`/block/${slot}?signatures=all&commitment=finalized`);
  fits(t, '/block/{slot}', got);
  const { listing, ...summary } = got.json.result;
  const { computeUnitsConsumed, ...counts } = summary.transactions;
  t.same({ ...summary, transactions: { ...counts, computeUnitsConsumed: null } }, plain, 'the summary is the same');
  t.equal(
    computeUnitsConsumed,
    landed.reduce((sum, { computeUnits }) => sum + Number(computeUnits), 0),
  );
  t.match(listing, { page: 1, pageSize: 100, total: landed.length, hasMore: false, otherPrograms: 0 });
  t.same(
    listing.items.map(({ signature, status }: any) => [signature, status]),
    landed.map(({ signature, error }) => [signature, error === null ? 'success' : 'failed']),
  );
  t.match(got.json.receipt, { claim: 'exact/2' });
  const next = (await get(`/block/${slot}?signatures=all&page=2&commitment=finalized`)).json.result.listing;
  t.match(next, { page: 2, items: [], hasMore: false, total: landed.length });
  t.equal((await calls()) - before, 1);
  const { json } = await get(`/block/${slot}?page=2`);
  t.strictSame(json, { error: 'invalid_page', message: 'a block has pages with signatures=all only' });
});

t.test('a finalized block is read once and for all', async (t) => {
  const target = `/block/${below(6)}`;
  const first = await get(target);
  const before = await calls();
  await step(12, 4);
  const again = await get(target);
  t.equal(again.headers.get('x-cache'), 'HIT');
  t.equal(again.text, first.text);
  t.equal(await calls(), before);
});

t.test('a block that is only confirmed says so, and is read again when it is finalized', async (t) => {
  const slot = chain.newestBlock('confirmed')?.slot ?? 0;
  t.equal((await get(`/block/${slot}`)).json.result.commitment, 'confirmed');
  t.equal((await get(`/block/${slot}?commitment=finalized`)).json.error, 'block_not_available');
  await step(44, 4);
  t.equal((await get(`/block/${slot}`)).json.result.commitment, 'finalized');
  const { receipt } = (await get(`/block/${slot}?commitment=finalized`)).json;
  t.match(receipt, { commitment: 'finalized', claim: 'exact/2' });
});

t.test(
  'the pages of a block that is not final come from one read, unless a caller has seen a later slot',
  async (t) => {
    const slot = chain.newestBlock('confirmed')?.slot ?? 0;
    const target = `/block/${slot}?signatures=all`;
    const first = (await get(target)).json;
    await step(3, 4);
    t.equal((await get(`${target}&page=2`)).json.slot, first.slot);
    const minSlot = String(chain.slot('confirmed'));
    t.match((await get(`${target}&page=3`, { headers: { 'x-min-slot': minSlot } })).json, { slot: Number(minSlot) });
  },
);

t.test('skipped, not yet and pruned are three different things', async (t) => {
  const refused = async (slot: number, status: number, error: string): Promise<Headers> => {
    const got = await get(`/block/${slot}`);
    t.strictSame([got.status, got.json.error], [status, error], `${slot}`);
    fits(t, '/block/{slot}', got);
    return got.headers;
  };
  await refused(below(3, true), 404, 'slot_skipped');
  await refused(5, 410, 'block_pruned');
  const future = await refused(chain.slot('processed') + 1000, 404, 'block_not_available');
  t.equal(future.get('retry-after'), '1');
  t.equal(future.get('x-rpc-error-code'), null, "a node's own number is for /rpc alone");
  await control.withholdBlockStatus(8);
  const head = await refused(chain.slot('confirmed'), 404, 'block_not_available');
  t.equal(head.get('retry-after'), '1');
  await control.withholdBlockStatus(0);
});

t.test('what is not there is not asked for again at once', async (t) => {
  const target = `/block/${chain.slot('processed') + 1}?commitment=finalized`;
  await control.withholdBlockStatus(1000);
  await step(2);
  const before = await calls();
  for (let i = 0; i < 5; i++) t.equal((await get(target)).status, 404);
  t.equal((await calls()) - before, 1);
  await step(3);
  t.equal((await get(target)).status, 404);
  t.equal((await calls()) - before, 2);
  await control.withholdBlockStatus(0);
});

t.test('that a slot below the finalized one was skipped is asked for once and for all', async (t) => {
  const target = `/block/${below(9, true)}?commitment=finalized`; // asked for nowhere else
  const before = await calls();
  for (let i = 0; i < 5; i++) {
    const { status, json } = await get(target);
    t.strictSame([status, json.error], [404, 'slot_skipped']);
    await step(12, 4);
  }
  t.equal((await calls()) - before, 1);
});

t.test('above it nothing is taken for final', async (t) => {
  while (!chain.isSkipped(chain.slot('confirmed') - 1)) await step();
  const target = `/block/${chain.slot('confirmed') - 1}`;
  t.equal((await get(target)).status, 404);
  await step(44, 4);
  const before = await calls();
  t.equal((await get(target)).json.error, 'slot_skipped');
  t.equal((await calls()) - before, 1);
});

t.test('a parameter at fault is refused before the node is asked', async (t) => {
  const slots = ['x', '-1', '1.5', '1e3', '0x10', '007', '%31', '9007199254740993', '1'.repeat(40)];
  await assertRefusedWithoutUpstream(
    t,
    world,
    'invalid_slot',
    slots.map((slot) => `/block/${slot}`),
  );
  const queries = ['commitment=processed', 'commitment=', 'x=1', 'commitment=confirmed&commitment=confirmed'];
  await assertRefusedWithoutUpstream(
    t,
    world,
    'invalid_query',
    queries.map((query) => `/block/1?${query}`),
  );
});
