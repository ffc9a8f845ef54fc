import t from 'tap';
import { Authenticator, rateLimitKeyOf } from '../../../src/access/authenticator.ts';
import { RateLimiter } from '../../../src/access/limits/rate-limiter.ts';
import type { Principal } from '../../../src/access/limits/tiers.ts';
import { StakeProofVerifier } from '../../../src/access/stake/stake-proof.ts';
import { DEFAULT_TIERS } from '../../support/access/default-tiers.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const HOME = Uint8Array.of(127, 0, 0, 1).buffer;
const ISSUED = 1_700_000_000;
const STEP = 1000n;
const WALLET = '1'.repeat(32);

const ofKey = (id: string, tier: 'build' | 'scale'): Principal => ({
  id: `key ${id}`,
  key: id,
  tier: DEFAULT_TIERS[tier],
  perIpLimit: undefined,
});
const KEYS = new Map([
  ['good', ofKey('good', 'build')],
  ['large', ofKey('large', 'scale')],
]);

/**
 * Creates an authenticator with two known keys, where every proof signed `1` is valid and a wallet has the balance that
 * the test sets.
 */
function callersOf({ held, knowsWallets = true }: { held?: bigint; knowsWallets?: boolean } = {}) {
  const clock = new ManualClock(ISSUED * 1000);
  const rateLimiter = new RateLimiter({ free: { requests: 12, windowSeconds: 10 }, identities: 100 }, clock);
  const state = { verified: 0, isTrue: true };
  const verify = (): boolean => {
    state.verified++;
    return state.isTrue;
  };
  const stake = {
    proofs: new StakeProofVerifier('host', verify, clock),
    balances: { balanceOf: () => held ?? 0n, balanceInUse: () => held },
    step: STEP,
  };
  const keys = {
    find: (key: string) => KEYS.get(key),
    tierOf: (id: string) => (id === 'good' ? DEFAULT_TIERS.build : undefined),
  };
  const callers = new Authenticator({
    tiers: DEFAULT_TIERS,
    keys,
    rateLimiter,
    stake: knowsWallets ? stake : undefined,
  });
  const count = (headers: Readonly<Record<string, string>>) =>
    callers.consume(
      {
        getHeader: (name) => headers[name] ?? '',
        forEach: (visit) => Object.entries(headers).forEach(([name, value]) => void visit(name, value)),
      },
      HOME,
      1,
    );
  return { callers, state, count };
}

const proof = (issued = ISSUED) => ({
  'x-stake-wallet': WALLET,
  'x-stake-issued': `${issued}`,
  'x-stake-signature': '1'.repeat(64),
});

t.test('a caller without credentials is its address, in the free tier', async (t) => {
  const { callers, count } = callersOf();
  const { principal, quota, credentialsError } = count({});
  t.match({ principal, credentialsError }, { principal: undefined, credentialsError: undefined });
  t.match(quota, { limit: 12, remaining: 11 });
  t.equal(callers.tierOf(principal), DEFAULT_TIERS.free);
  t.equal(rateLimitKeyOf(HOME, principal), rateLimitKeyOf(HOME, undefined));
});

t.test('a valid key is counted as such; an invalid one is refused and counts for the address', async (t) => {
  const { count } = callersOf();
  t.match(count({ 'x-api-key': 'good' }), { principal: { id: 'key good' }, quota: { limit: 500, remaining: 499 } });
  t.match(count({ 'x-api-key': 'bad' }), {
    credentialsError: { code: 'invalid_api_key' },
    quota: { limit: 12, remaining: 11 },
  });
  for (let i = 10; i >= 0; i--) t.match(count({ 'x-api-key': 'bad' }).quota, { allowed: true, remaining: i });
  t.match(count({ 'x-api-key': 'bad' }).quota, { allowed: false });
});

t.test('empty credentials are invalid, since who sends them expects more than the free tier', async (t) => {
  const { count } = callersOf();
  t.match(count({ 'x-api-key': '' }), { principal: undefined, credentialsError: { code: 'invalid_api_key' } });
  t.match(count({ 'x-stake-wallet': '' }), { credentialsError: { code: 'invalid_stake_proof' } });
  const withoutTier = callersOf({ knowsWallets: false });
  t.equal(withoutTier.count({ 'x-stake-wallet': '' }).credentialsError, undefined, 'nobody reads it here');
});

t.test('a wallet gets the free tier once more for each step of its balance', async (t) => {
  const { callers, count } = callersOf({ held: 7n * STEP + 999n });
  const { principal, quota } = count(proof());
  t.match(quota, { limit: 800, remaining: 799 });
  t.match(callers.tierOf(principal), { priority: true, streams: 40, subscriptions: 80 });
  t.equal(rateLimitKeyOf(HOME, principal), `wallet ${WALLET}`);
});

t.test('a wallet below one step changes nothing', async (t) => {
  const { count } = callersOf({ held: STEP - 1n });
  t.match(count(proof()), { principal: undefined, quota: { limit: 12 }, credentialsError: undefined });
  t.match(count({ 'x-api-key': 'good', ...proof() }), { principal: { id: 'key good' }, quota: { limit: 500 } });
});

t.test(
  'of a key and a wallet the one with more requests per second counts, under the identity of the key',
  async (t) => {
    const few = callersOf({ held: 4n * STEP });
    t.match(few.count({ 'x-api-key': 'good', ...proof() }).quota, { limit: 500 }, '50 a second each: the key’s own');
    const more = callersOf({ held: 5n * STEP });
    const { principal, quota } = more.count({ 'x-api-key': 'good', ...proof() });
    t.match({ principal, quota }, { principal: { id: 'key good', key: 'good' }, quota: { limit: 600 } });
    t.match(more.count({ 'x-api-key': 'large', ...proof() }).quota, { limit: 30_000 });
  },
);

t.test('an invalid proof is refused, with a key too, and its verification counts for the address on top', async (t) => {
  const { count, state } = callersOf({ held: STEP });
  state.isTrue = false;
  const refused = { principal: undefined, credentialsError: { code: 'invalid_stake_proof' } };
  t.match(count(proof()), { ...refused, quota: { remaining: 6 } });
  t.match(count({ 'x-api-key': 'good', ...proof() }), { ...refused, quota: { remaining: 0 } });
});

t.test('a caller whose address has spent its quota causes no more verification', async (t) => {
  const { count, state } = callersOf({ held: STEP });
  count(proof());
  for (let i = 0; i < 7; i++) t.equal(count({}).quota.remaining, 6 - i, 'the verification cost five');
  t.equal(state.verified, 1);
  t.match(count(proof(ISSUED - 1)), { quota: { allowed: false, limit: 12 }, credentialsError: undefined });
  t.equal(state.verified, 1);
  t.match(count(proof()).quota, { allowed: true, limit: 200 }, 'a proof verified before is accepted');
});

t.test('what is wrong with a proof at first sight costs no verification', async (t) => {
  const { count, state } = callersOf({ held: STEP });
  const shown = count({ ...proof(), 'x-stake-issued': 'today' });
  t.match(shown, { quota: { remaining: 11 }, credentialsError: { code: 'invalid_stake_proof' } });
  t.equal(state.verified, 0);
});

t.test('without a configured mint stake headers are ignored', async (t) => {
  const { count } = callersOf({ held: STEP, knowsWallets: false });
  t.match(count({ ...proof(), 'x-stake-signature': '' }), { principal: undefined, credentialsError: undefined });
});

t.test('a principal has the tier that its key or its wallet has by now', async (t) => {
  const { callers } = callersOf({ held: 0n });
  const [good, gone] = [ofKey('good', 'scale'), ofKey('large', 'scale')];
  t.equal(callers.isKeyInvalid(good), false);
  t.equal(callers.currentTierOf(good), DEFAULT_TIERS.build, 'its tier was changed');
  t.equal(callers.isKeyInvalid(gone), true);
  t.equal(callers.currentTierOf(gone), undefined);
  const wallet = { ...good, id: 'wallet w', key: undefined, wallet: 'w' };
  t.equal(callers.currentTierOf(wallet), undefined, 'it holds nothing any more');
  t.equal(callers.currentTierOf({ ...good, wallet: 'w' }), DEFAULT_TIERS.build, 'the key is left');
  t.equal(callersOf().callers.currentTierOf(wallet), wallet.tier, 'its balance is not known now');
  const rich = callersOf({ held: 20n * STEP }).callers;
  t.same(rich.currentTierOf(wallet), DEFAULT_TIERS.staked(20n));
  t.same(rich.currentTierOf({ ...good, wallet: 'w' }), DEFAULT_TIERS.staked(20n), 'the wallet has the higher one');
});
