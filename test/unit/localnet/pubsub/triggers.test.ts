import bs58 from 'bs58';
import t from 'tap';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../../src/domain/well-known-addresses.ts';
import { Chain } from '../../../../src/localnet/bank/chain.ts';
import { type Subscriber, SubscriptionRegistry } from '../../../../src/localnet/pubsub/subscription-registry.ts';
import { noFaults } from '../../../../src/localnet/rpc/injected-faults.ts';
import { COINS, DOLLAR, WALLETS } from '../../../../src/localnet/traffic/demo-accounts.ts';
import { deriveKeypair } from '../../../../src/localnet/traffic/demo-keypair.ts';
import { createFaucet } from '../../../../src/localnet/traffic/faucet.ts';
import { startTraffic } from '../../../../src/localnet/traffic/traffic-generator.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const PROGRAMS = [TOKEN_PROGRAM, TOKEN_2022_PROGRAM];

interface Notification {
  readonly context: { readonly slot: number };
  readonly value: { readonly pubkey: string; readonly account: { readonly data: readonly [string, string] } };
}

/** Starts a chain with traffic; the returned function opens a subscription and returns what it receives from then on. */
async function startSubscriptions() {
  const clock = new ManualClock();
  const chain = await Chain.create({
    clock,
    genesisHash: deriveKeypair('triggers').address,
    originMs: clock.now() - 400_000,
    slotMs: 400,
    skipEvery: 0,
    slotsPerEpoch: 64,
  });
  const faucet = createFaucet(chain);
  await startTraffic(chain, { transactionsPerSlot: 5, seed: 5 });
  chain.produceBlock();
  const registry = new SubscriptionRegistry({ chain, faucet, faults: noFaults(), clock, address: '127.0.0.1:1' });
  chain.onSlot((event) => registry.publish(event));
  const subscribe = (program: string, commitment: string, filters: readonly object[]): Notification[] => {
    const received: Notification[] = [];
    const subscriber: Subscriber = { send: (text) => received.push(JSON.parse(text).params.result) };
    registry.call(subscriber, 'programSubscribe', [program, { encoding: 'base64', commitment, filters }]);
    return received;
  };
  return { chain, subscribe };
}

t.test('a program subscription with filters receives what one without them does, and they match', async (t) => {
  const { chain, subscribe } = await startSubscriptions();
  const [wallet] = WALLETS;
  const byOwner = { memcmp: { offset: 32, bytes: wallet.address } };
  const filterSets = [
    [byOwner],
    [{ dataSize: 165 }, byOwner],
    ...COINS.map(({ mint }) => [{ memcmp: { offset: 0, bytes: mint.address } }]),
    [{ memcmp: { offset: 0, bytes: DOLLAR.mint.address } }, byOwner],
    [{ memcmp: { offset: 33, bytes: Buffer.from(wallet.address).toString('base64'), encoding: 'base64' } }],
    [{ dataSize: 182 }],
  ];
  const pairs = ['processed', 'confirmed', 'finalized'].flatMap((commitment) =>
    PROGRAMS.map((program) => ({
      all: subscribe(program, commitment, []),
      filtered: filterSets.map((filters) => subscribe(program, commitment, filters)),
    })),
  );
  for (let block = 0; block < 60; block++) {
    chain.produceBlock();
    if (block === 20) chain.fork();
  }
  for (const { all, filtered } of pairs) {
    t.ok(all.length > 0, `${all.length} notifications without filters`);
    filterSets.forEach((filters, index) => {
      const wanted = all.filter((notification) => filters.every((filter) => matches(notification, filter)));
      t.same(filtered[index], wanted, JSON.stringify(filters));
    });
  }
  t.ok(
    pairs.some(({ filtered: [ofOwner] }) => Number(ofOwner?.length) > 0),
    'accounts of the owner changed',
  );
});

/** Returns whether a notified account matches. */
function matches({ value }: Notification, filter: object): boolean {
  const data = Buffer.from(value.account.data[0], 'base64');
  const { dataSize, memcmp } = filter as {
    dataSize?: number;
    memcmp?: { offset: number; bytes: string; encoding?: string };
  };
  if (memcmp === undefined) return data.length === dataSize;
  if (memcmp.encoding === 'base64') return false; // bytes that no account has
  return data.subarray(memcmp.offset, memcmp.offset + 32).equals(bs58.decode(memcmp.bytes));
}
