import t from 'tap';
import { CLOCK_SYSVAR } from '../../src/domain/well-known-addresses.ts';
import { COINS, WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { WRAPPED_SOL } from '../../src/solana/accounts/known-mints.ts';
import { startStepped } from '../support/harness.ts';

// Reads of one answer that are valid at different slots.

const { get, cluster, node, step } = await startStepped(t, { perSlot: 0 });
await step(40, 4); // above the first finalized slot that the gateway observed
const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';

/** The Clock, which is read together with amounts: time 0. */
const CLOCK = JSON.stringify({
  data: [Buffer.alloc(40).toString('base64'), 'base64'],
  executable: false,
  lamports: 1,
  owner: 'Sysvar1111111111111111111111111111111111111',
  rentEpoch: 0,
  space: 40,
});

/** Number of owners used, so that no request hits the cache. */
let owners = 0;
const owner = () => '2345678'.charAt(owners++).repeat(44);

/** Makes the node return no accounts, at the slot of `slotOf`; returns the number of reads. */
function nothingAt(slotOf: (read: number, programId: string | undefined) => number): () => number {
  let reads = 0;
  const context = (programId?: string) => `"context":{"slot":${slotOf(reads++, programId)}}`;
  node.overrides.set('getTokenAccountsByOwner', ([, { programId }]) => ({
    result: `{${context(programId)},"value":[]}`,
  }));
  node.overrides.set('getMultipleAccounts', ([keys]) => {
    const accounts = keys.map((key: string) => (key === CLOCK_SYSVAR ? CLOCK : 'null'));
    return { result: `{${context()},"value":[${accounts}]}` };
  });
  return () => reads;
}

t.afterEach(() => node.overrides.clear());

t.test('both token programs are read again until their slots agree', async (t) => {
  const finalized = cluster.chain.slot('finalized');
  const reads = nothingAt((read, programId) => (read < 2 && programId !== TOKEN_2022 ? finalized - 1 : finalized));
  const { json } = await get(`/token-accounts/${owner()}?commitment=finalized`);
  t.equal(reads(), 4, 'two lists, twice');
  t.equal(json.slot, finalized);
  t.match(json.receipt.claim, /^observed/, 'what is closed just behind that slot may be missing');
});

t.test('a list that has not changed for long is complete', async (t) => {
  const [wallet] = WALLETS;
  const path = `/token-accounts/${wallet.address}?commitment=finalized`;
  for (let i = 0; i < 8; i++) {
    await get(path); // until it is live
    await step(2, 2);
  }
  const { json: young } = await get(`${path}&mint=${WRAPPED_SOL}`);
  t.match(young.receipt.claim, /^observed/);
  await step(80, 4);
  const read = () => get(`${path}&mint=${COINS[0]?.mint.address}`);
  let { json } = await read();
  for (let i = 0; i < 10 && !json.receipt.claim.startsWith('exact'); i++) {
    await step(2, 2); // on a busy machine it was not live in time
    ({ json } = await read());
  }
  t.equal(json.result.length, 1);
  t.match(json.receipt.claim, /^exact/);
});

t.test('an account that a node leaves out of a list is read by its address', async (t) => {
  const path = `/token-accounts/${WALLETS[3]?.address}?commitment=finalized`;
  const { json: before } = await get(path);
  t.ok(before.result.length > 0);
  await step(40, 4);
  let lists = 0;
  node.overrides.set('getTokenAccountsByOwner', () => {
    lists++;
    return { result: `{"context":{"slot":${cluster.chain.slot('finalized')}},"value":[]}` };
  });
  const { json } = await get(path);
  t.ok(lists > 0, 'it is not kept live');
  t.ok(json.slot > before.slot);
  t.same(json.result, before.result);
});

t.test('if the slots never agree, the oldest slot is returned with the claim observed', async (t) => {
  const from = cluster.chain.slot('finalized') - 20;
  const reads = nothingAt((read) => from + read);
  const { status, json } = await get(`/token-accounts/${owner()}?commitment=finalized`);
  t.equal(status, 200);
  t.same(json.result, []);
  t.equal(reads(), 10, 'two lists, five times');
  t.equal(json.slot, from + 8);
  t.match(json.receipt.claim, /^observed/);
});

t.test('a portfolio, too, has the slot of its oldest part', async (t) => {
  const from = cluster.chain.slot('confirmed') - 20;
  const reads = nothingAt((read) => from + read);
  const { status, json } = await get(`/address/${owner()}/portfolio`);
  t.equal(status, 200);
  t.match(json.result, { items: [], totalUsd: null });
  t.equal(reads(), 15, 'the balance and two lists, five times');
  t.equal(json.slot, from + 12);
  t.match(json.receipt.claim, /^observed/);
});
