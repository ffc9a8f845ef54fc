import { address } from '@solana/web3.js';
import t from 'tap';
import { TOKEN_PROGRAM } from '../../src/domain/well-known-addresses.ts';
import { DOLLAR, WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { FeedHub, FeedMember } from '../support/feed-hub.ts';
import {
  type GatewayHarness,
  type SteppedHarness,
  startGatewayOver,
  startStepped,
  waitFor,
} from '../support/harness.ts';
import type { TestScope } from '../support/test-scope.ts';
import { addressFromByte, tokenAccountFixture } from '../support/token-account-fixtures.ts';

const WALLET = WALLETS[0]?.address ?? '';
const OWNER = addressFromByte(7);
const [A, B] = [address(addressFromByte(21)), address(addressFromByte(22))];
const BALANCE = `/balance/${WALLET}`;
const LIST = `/token-accounts/${OWNER}`;
/** Settings without audits, whose reads would be counted. */
const UNAUDITED = 'watch.auditMs=3600000';

const held = (amount: number) => ({ ...tokenAccountFixture(OWNER, amount, DOLLAR.mint.address), owner: TOKEN_PROGRAM });

interface Fleet {
  readonly world: SteppedHarness;
  readonly hub: FeedHub;
  readonly members: readonly FeedMember[];
  readonly gateways: readonly [GatewayHarness, GatewayHarness];
  /** Comes to the next slot, everywhere. */
  step(slots?: number): Promise<void>;
  /** Returns the calls that read accounts and lists. */
  reads(): Promise<number>;
  subscriptions(): Promise<number>;
}

/** Opens two gateways over one cluster; the first one leads. */
async function openFleet(t: TestScope): Promise<Fleet> {
  const hub = new FeedHub(true);
  const members = [new FeedMember(hub, 'first'), new FeedMember(hub, 'second')] as const;
  const world = await startStepped(t, { perSlot: 0, set: [UNAUDITED], joinWatch: members[0].joinWatch });
  const { cluster, clock, node } = world;
  const second = await startGatewayOver(t, `${node.url},${cluster.wsUrl}`, clock, {
    set: [UNAUDITED],
    joinWatch: members[1].joinWatch,
  });
  const gateways = [world, second] as const;
  const slotOf = async ({ get }: GatewayHarness): Promise<number> => (await get('/health')).json.result?.slot;
  const step = async (slots = 1): Promise<void> => {
    for (let i = 0; i < slots; i++) {
      clock.advance(400);
      const isThere = async (gateway: GatewayHarness) => (await slotOf(gateway)) === cluster.chain.slot('processed');
      for (const gateway of hub.members.map((_, j) => gateways[j]))
        if (gateway !== undefined) await waitFor(() => isThere(gateway), 'the slot');
    }
  };
  const reads = async (): Promise<number> => {
    const counts = await cluster.control.requestCounts();
    return (counts['getMultipleAccounts'] ?? 0) + (counts['getTokenAccountsByOwner'] ?? 0);
  };
  const subscriptions = async () => (await cluster.control.subscriptionCounts()).reduce((sum, count) => sum + count, 0);
  return { world, hub, members, gateways, step, reads, subscriptions };
}

/** Reads a path at a gateway in slot after slot until that costs no reads; returns the number of slots. */
async function keepLive({ step, reads }: Fleet, { get }: GatewayHarness, path: string): Promise<number> {
  for (let quiet = 0, slots = 0; ; slots++) {
    if (quiet === 4) return slots - quiet;
    if (slots > 60) throw new Error(`${path} does not come to be kept live`);
    const before = await reads();
    await step();
    await get(path);
    quiet = (await reads()) === before ? quiet + 1 : 0;
  }
}

t.test('one gateway subscribes for both; what follows costs no reads, and its answers are true', async (t) => {
  const fleet = await openFleet(t);
  const { world, hub, members, gateways, step, reads, subscriptions } = fleet;
  const { chain } = world.cluster;
  chain.setAccount(A, held(1_000_000));
  chain.setAccount(B, held(50));
  hub.elect(members[0]);
  await step(2);
  t.equal(members[1]?.watch?.role, 'following');
  t.match((await gateways[1].get('/health')).json.result, { status: 'ok', upstreams: [{ ws: 'idle' }] });
  await keepLive(fleet, gateways[0], BALANCE);
  await keepLive(fleet, gateways[0], LIST);
  await step(2);
  const ofOne = await subscriptions();
  await keepLive(fleet, gateways[1], BALANCE);
  await keepLive(fleet, gateways[1], LIST);
  t.equal(members[1]?.watch?.followed, 2);
  t.equal(await subscriptions(), ofOne, 'two gateways, one set of subscriptions');

  const before = await reads();
  const wrong: string[] = [];
  const newest = [0, 0];
  for (let i = 1; i <= 8; i++) {
    chain.setAccount(B, held(i));
    await step();
    for (const [j, { get }] of gateways.entries()) {
      const balance = (await get(BALANCE)).json;
      if (balance.result.lamports !== Number(chain.accountAt(WALLET, balance.slot)?.lamports)) wrong.push('balance');
      if (balance.slot < (newest[j] ?? 0)) wrong.push(`back from ${newest[j]} to ${balance.slot}`);
      newest[j] = balance.slot;
      const list = (await get(LIST)).json;
      const row = list.result.find((each: { address: string }) => each.address === B);
      const account = chain.accountAt(B, list.slot);
      const amount = account === undefined ? undefined : Buffer.from(account.data).readBigUInt64LE(64).toString();
      if (row?.tokenAmount.amount !== amount)
        wrong.push(`list at ${list.slot}: ${row?.tokenAmount.amount}, not ${amount}`);
    }
  }
  t.same(wrong, []);
  t.ok((newest[1] ?? 0) >= (newest[0] ?? 0) - 1, `${newest}`);
  t.equal(await reads(), before);
});

t.test('the next leader subscribes for what it followed: no slot goes back, and its claims go on soon', async (t) => {
  const fleet = await openFleet(t);
  const { world, hub, members, gateways, step } = fleet;
  hub.elect(members[0]);
  await step(2);
  await keepLive(fleet, gateways[1], BALANCE);
  const slots: number[] = [];
  const read = async (): Promise<void> => {
    slots.push((await gateways[1].get(BALANCE)).json.slot);
  };
  await read();
  if (members[1] !== undefined) hub.lose(members[1]);
  hub.leader = undefined;
  t.equal(members[1]?.watch?.role, 'waiting');
  for (let i = 0; i < 4; i++) {
    await world.step(); // who waits polls its slots, each second
    await read();
  }
  hub.elect(members[1]);
  t.match(members, [{ watch: { role: 'following' } }, { watch: { role: 'leading' } }]);
  const isUp = async () => (await gateways[1].get('/health')).json.result.upstreams[0].ws === 'up';
  await waitFor(isUp, 'the WebSocket of the next leader');
  const gap = await keepLive(fleet, gateways[1], BALANCE);
  await read();
  t.ok(gap <= 6, `live again after ${gap} slots`);
  t.same(
    slots,
    slots.toSorted((a, b) => a - b),
  );
  await keepLive(fleet, gateways[0], BALANCE);
  t.equal((await gateways[0].get(BALANCE)).json.slot, (await gateways[1].get(BALANCE)).json.slot);
});
