import { once } from 'node:events';
import { ed25519 } from '@noble/curves/ed25519.js';
import { address } from '@solana/web3.js';
import bs58 from 'bs58';
import t from 'tap';
import { WebSocket } from 'ws';
import { stakeText } from '../../src/access/stake/stake-proof.ts';
import { TOKEN_PROGRAM } from '../../src/domain/well-known-addresses.ts';
import { DOLLAR } from '../../src/localnet/traffic/demo-accounts.ts';
import { findProgramAddress } from '../../src/solana/accounts/program-derived-address.ts';
import { addressOfNumber } from '../support/address-of-number.ts';
import { type HttpAnswer, startStepped, waitFor } from '../support/harness.ts';
import { tokenAccountFixture } from '../support/token-account-fixtures.ts';

const HOST = 'gateway.example';
const SECRET = new Uint8Array(32).fill(9);
const WALLET = bs58.encode(ed25519.getPublicKey(SECRET));
const MINT = DOLLAR.mint.address;
const FREE = 'limits.free.requests=100'; // as it ships
const STAKE = [`stake.mint=${MINT}`, `stake.host=${HOST}`, 'stake.step=1000', 'stake.holdSeconds=4'];

function proofAt(nowMs: number, host = HOST) {
  const issued = String(Math.floor(nowMs / 1000));
  const signature = ed25519.sign(new TextEncoder().encode(stakeText(host, WALLET, issued)), SECRET);
  const headers = { 'x-stake-wallet': WALLET, 'x-stake-issued': issued, 'x-stake-signature': bs58.encode(signature) };
  return { headers };
}

const limit = ({ headers }: HttpAnswer): number => Number(headers.get('x-ratelimit-limit'));

t.test('a wallet that has held for long enough gets the tier of its balance', async (t) => {
  const { get, cluster, clock, step } = await startStepped(t, { perSlot: 0, set: [FREE, ...STAKE] });
  const give = (amount: bigint): void => {
    const name = address(findProgramAddress(TOKEN_PROGRAM, ['bag']));
    cluster.chain.setAccount(name, tokenAccountFixture(WALLET, amount, MINT));
  };
  const proof = proofAt(clock.now());
  give(3_500n);
  t.equal(limit(await get('/slot', proof)), 100, 'a wallet that was never seen counts nothing yet');
  const comesTo = (expected: number) => async (): Promise<boolean> => {
    await step();
    return limit(await get('/pubkey', proof)) === expected;
  };
  const began = clock.now();
  await waitFor(comesTo(400), 'three steps');
  t.ok(clock.now() - began >= 4_000, 'not before it has held for so long');
  t.equal(limit(await get('/slot')), 100, 'the address has what it had');

  const started = await get('/slot', proof);
  t.equal(limit(started), 400);
  give(999n);
  await waitFor(comesTo(100), 'less than a step');
});

t.test(
  'a stream goes on with the tier that its wallet has by now, and ends with 1008 where that is too low',
  async (t) => {
    const set = [...STAKE, 'limits.free.requests=100', 'limits.free.streams=1', 'limits.free.subscriptions=2'];
    const { get, gateway, cluster, clock, step } = await startStepped(t, { perSlot: 0, set });
    const give = (amount: bigint): void => {
      const name = address(findProgramAddress(TOKEN_PROGRAM, ['bag']));
      cluster.chain.setAccount(name, tokenAccountFixture(WALLET, amount, MINT));
    };
    const proof = proofAt(clock.now());
    const comesTo = (expected: number) => async (): Promise<boolean> => {
      await step();
      return limit(await get('/slot', proof)) === expected;
    };
    give(3_000n);
    await waitFor(comesTo(400), 'three steps');
    const closed: [string, number][] = [];
    const haveClosed = (isEnough: () => boolean) => async (): Promise<boolean> => {
      await step();
      return isEnough();
    };
    const open = async (name: string, subscriptions = 0): Promise<void> => {
      const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/api/v1/stream?interval=10000`, proof);
      t.teardown(() => socket.terminate());
      socket.on('close', (code) => closed.push([name, code]));
      await once(socket, 'open');
      let answers = 0;
      socket.on('message', (data) => void (String(data).startsWith('{"type":"subscribed"') && answers++));
      const addresses = Array.from({ length: subscriptions }, (_, i) => addressOfNumber(i));
      if (subscriptions > 0) socket.send(JSON.stringify({ op: 'subscribe', topic: 'balance', addresses }));
      await waitFor(() => answers === subscriptions, 'the subscriptions');
    };
    for (const name of ['first', 'second', 'third']) await open(name);
    await open('subscriber', 5);
    await step(15);
    t.same(closed, [], 'the tier is still the same');
    give(1_000n);
    await waitFor(comesTo(200), 'one step: two streams of four subscriptions');
    const isSubscriberClosed = (): boolean => closed.some(([name]) => name === 'subscriber');
    await waitFor(
      haveClosed(() => closed.length >= 2 && isSubscriberClosed()),
      'the end of what is too much',
    );
    t.ok(closed.every(([, code]) => code === 1008));
    t.ok(closed.length < 4, 'the others go on');
    give(0n);
    await waitFor(comesTo(100), 'no stake');
    await waitFor(
      haveClosed(() => closed.length === 4),
      'the end of the last one',
    );
  },
);

t.test('an invalid stake proof is refused, and counts for the address', async (t) => {
  const { get, clock } = await startStepped(t, { perSlot: 0, set: [FREE, ...STAKE] });
  const got = await get('/slot', proofAt(clock.now(), 'elsewhere.example'));
  t.match([got.status, got.json.error, limit(got)], [401, 'invalid_stake_proof', 100]);
  const old = await get('/pubkey', proofAt(clock.now() - 2 * 86_400_000));
  t.match([old.status, old.json.error], [401, 'invalid_stake_proof']);
  t.match(old.json.message, 'more than a day ago');
  t.equal(Number(old.headers.get('x-ratelimit-remaining')), 93, 'the first took a verification, too');
  const free = await get('/health', proofAt(clock.now() - 1000, 'elsewhere.example'));
  t.equal(free.status, 200, 'what costs nothing looks at no proof');
  t.equal(Number(free.headers.get('x-ratelimit-remaining')), 93);
});

t.test('without a mint no wallet is accepted', async (t) => {
  const { get } = await startStepped(t, { perSlot: 0 });
  t.equal((await get('/slot', { headers: { 'x-stake-wallet': 'x' } })).status, 200);
});

t.test('a mint without the host that wallets sign for prevents the start', async (t) => {
  await t.rejects(startStepped(t, { set: [`stake.mint=${MINT}`] }), { exitCode: 78, message: /stake\.host/ });
});
