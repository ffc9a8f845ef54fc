import fc from 'fast-check';
import t from 'tap';
import { CLOCK_SYSVAR } from '../../src/domain/well-known-addresses.ts';
import { WALLETS, WHALE } from '../../src/localnet/traffic/demo-accounts.ts';
import { formatSignedBody, receiptTextIn } from '../../src/receipts/signed-body.ts';
import { ReceiptError } from '../../src/receipts/verify/receipt-error.ts';
import { type Expected, verifyReceipt } from '../../src/receipts/verify/verify-receipt.ts';
import { startStepped } from '../support/harness.ts';
import { runExampleVerifier } from '../support/receipts/example-implementation.ts';
import { pythonSkipReason, pythonVerdicts, type VerifyRequest } from '../support/receipts/python-implementation.ts';

const { get, gateway, cluster, clock, step } = await startStepped(t);

const TARGETS = [
  '/slot',
  '/epoch',
  '/epoch?commitment=finalized',
  '/performance',
  '/priority-fee',
  `/balance/${WHALE.address}`,
  `/account/${WHALE.address}?commitment=processed`,
  `/account/${CLOCK_SYSVAR}`,
  ...WALLETS.map(({ address }) => `/balance/${address}?commitment=finalized`),
];

const expected = (target: string): Expected => ({
  publicKeys: [gateway.publicKey],
  cluster: cluster.genesisHash,
  request: `GET /api/v1${target}`,
  time: { nowMs: clock.now(), maxAgeMs: 30_000 },
});

t.test('every answer with an envelope verifies, hit or miss, sealed alone or with others', async (t) => {
  const sizes = new Set<number>();
  for (const round of ['miss', 'hit']) {
    const bodies = await Promise.all(TARGETS.map(async (target) => ({ target, ...(await get(target)) })));
    for (const { target, text, json } of bodies) {
      const { result, slot, receipt } = verifyReceipt(text, expected(target));
      t.equal(formatSignedBody(result, slot, receiptTextIn(text)), text, round);
      t.equal(slot, json.slot, target);
      sizes.add(receipt.size);
    }
  }
  t.ok(Math.max(...sizes) > 1, 'some shared a signature');
});

t.test('a receipt says exact only for what cannot change: the finalized balance', async (t) => {
  await step(40, 4); // beyond the first finalized slot that this process observed
  const claim = async (target: string) => (await get(target)).json.receipt.claim;
  t.equal(await claim(`/balance/${WHALE.address}?commitment=finalized`), 'exact/1');
  t.equal(await claim(`/balance/${WHALE.address}`), 'observed/1');
  t.equal(await claim(`/account/${WHALE.address}?commitment=finalized`), 'observed/1');
});

t.test('of 1,000 bodies with one flipped bit none is accepted', async (t) => {
  const bodies = await Promise.all(
    TARGETS.slice(0, 10).map(async (target) => ({ target, body: Buffer.from((await get(target)).text) })),
  );
  const faults = new Map<string, number>();
  fc.assert(
    fc.property(fc.constantFrom(...bodies), fc.nat(), fc.nat(7), ({ target, body }, at, bit) => {
      const forged = Buffer.from(body);
      const index = at % forged.length;
      forged[index] = (forged[index] ?? 0) ^ (1 << bit);
      try {
        verifyReceipt(forged, expected(target));
        return false;
      } catch (thrown) {
        if (!(thrown instanceof ReceiptError)) throw thrown;
        faults.set(thrown.code, (faults.get(thrown.code) ?? 0) + 1);
        return true;
      }
    }),
    { numRuns: 1000 },
  );
  t.equal(
    [...faults.values()].reduce((sum, count) => sum + count, 0),
    1000,
  );
  t.ok(faults.size > 2, [...faults.keys()].join(' '));
});

t.test('a body does not verify for another request, key, cluster or time', async (t) => {
  const target = `/balance/${WHALE.address}`;
  const { text } = await get(target);
  const other = { ...expected(target) };
  const refused = (with_: Partial<Expected>, fault: string): void => {
    try {
      verifyReceipt(text, { ...other, ...with_ });
      t.fail(`believed despite ${fault}`);
    } catch (thrown) {
      t.equal((thrown as ReceiptError).code, fault);
    }
  };
  refused({ request: `GET /api/v1${target}?commitment=finalized` }, 'request');
  refused({ publicKeys: [cluster.genesisHash] }, 'unknown-key');
  refused({ cluster: gateway.publicKey }, 'cluster');
  refused({ nonce: 'AAAAAAAAAAAAAAAAAAAAAA' }, 'nonce');
  refused({ time: { nowMs: clock.now() + 60_000, maxAgeMs: 30_000 } }, 'stale');
  refused({ time: { nowMs: clock.now() - 60_000 } }, 'future');
  refused({ minSlot: 2_000_000 }, 'old-slot');
});

t.test('an old body is sealed again before it is served, with the same result', async (t) => {
  // An answer that was read only once is only as old as its two slots; a live one may get older.
  const before = (await get('/performance')).json;
  await step(60, 4);
  const after = (await get('/performance')).json;
  verifyReceipt((await get('/performance')).text, expected('/performance'));
  t.ok(after.receipt.issuedAt >= before.receipt.issuedAt);
  t.ok(clock.now() - after.receipt.issuedAt <= 20_000);
});

t.test(
  'the verifier among the examples accepts a live answer, and none that was changed',
  { skip: pythonSkipReason },
  async (t) => {
    const request = `GET /api/v1/balance/${WHALE.address}`;
    const nonce = 'n0nce-of_16-char';
    const { text } = await get(`/balance/${WHALE.address}`, { headers: { 'x-receipt-nonce': nonce } });
    const judge = (body: string, asked = request): string =>
      runExampleVerifier({ publicKey: gateway.publicKey, cluster: gateway.cluster, request: asked, nonce, body });
    const { result } = verifyReceipt(text, { ...expected(`/balance/${WHALE.address}`), nonce });
    t.equal(judge(text), result);
    t.equal(judge(text, request.replace('/api', `${gateway.url}/api`)), result, 'with the whole URL too');
    t.equal(judge(text, request.replace('GET', 'SUB')), 'refused: not what was asked');
    t.equal(judge(text, request.slice(0, -1)), 'refused: not what was asked');
    t.equal(judge(text.replace('observed', 'exact')), 'refused: signature');
  },
);

t.test('a verifier without code of this project accepts the same bodies', { skip: pythonSkipReason }, async (t) => {
  const { publicKey, cluster } = gateway;
  const question = async (target: string): Promise<VerifyRequest> => {
    const { text: body } = await get(target);
    return { publicKey, cluster, request: `GET /api/v1${target}`, nonce: null, body };
  };
  const honest = await Promise.all(TARGETS.slice(0, 9).map(question));
  const [first] = honest;
  if (first === undefined) throw new Error('nothing was asked');
  const forged = { ...first, body: String(first.body).replace('"observed/1"', '"exact/1"') };
  t.same(pythonVerdicts([...honest, forged]), [...honest.map(() => 'holds'), 'signature']);
});
