import fc from 'fast-check';
import t from 'tap';
import { GatewayError } from '../../../../src/domain/gateway-error.ts';
import { RequestCost } from '../../../../src/domain/request-cost.ts';
import type { Mesh } from '../../../../src/upstream/mesh/mesh.ts';
import { AccountBatcher, type AccountQuery } from '../../../../src/upstream/reads/account-batcher.ts';

interface Call {
  readonly addresses: readonly string[];
  readonly config: { readonly commitment: string; readonly encoding: string; readonly minContextSlot?: number };
}

/** Starts a node on which each account's balance is the number that its address ends in. */
function open(failWhen: (call: Call) => GatewayError | undefined = () => undefined) {
  const calls: Call[] = [];
  const mesh: Pick<Mesh, 'call'> = {
    async call(_, [addresses, config] = []) {
      const call = { addresses, config } as Call; // what AccountBatcher sends
      calls.push(call);
      const failure = failWhen(call);
      if (failure !== undefined) throw failure;
      const accounts = call.addresses.map((address) =>
        address === 'none' ? 'null' : `{"lamports":${address.slice(1)}}`,
      );
      const value = Buffer.from(`[${accounts.join(',')}]`);
      return { slot: 7, result: value, value };
    },
  };
  return { accounts: new AccountBatcher(mesh), calls };
}

const query = (address: string, more: Partial<AccountQuery> = {}): AccountQuery => ({
  address,
  shape: 'lamports',
  commitment: 'confirmed',
  minContextSlot: undefined,
  ...more,
});

t.test('reads of one turn become one call, and each gets its own account', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(300), { minLength: 1, maxLength: 350 }), async (numbers) => {
      const { accounts, calls } = open();
      const readings = await Promise.all(numbers.map((number) => accounts.read(query(`a${number}`))));
      const fits = readings.every(
        ({ slot, account }, i) => slot === 7 && String(account) === `{"lamports":${numbers[i]}}`,
      );
      return (
        fits && calls.length === Math.ceil(numbers.length / 100) && calls.every((call) => call.addresses.length <= 100)
      );
    }),
  );
});

t.test('a missing account is null; one that is read twice is sent once', async (t) => {
  const { accounts, calls } = open();
  const readings = await Promise.all(['none', 'a1', 'a1'].map((address) => accounts.read(query(address))));
  t.same(
    readings.map(({ account }) => account && String(account)),
    [null, '{"lamports":1}', '{"lamports":1}'],
  );
  t.same(calls[0]?.addresses, ['none', 'a1']);
});

t.test(
  'different commitments or shapes become different calls; the highest minContextSlot holds for all',
  async (t) => {
    const { accounts, calls } = open();
    await Promise.all([
      accounts.read(query('a1', { minContextSlot: 5 })),
      accounts.read(query('a2', { minContextSlot: 9 })),
      accounts.read(query('a3')),
      accounts.read(query('a1', { commitment: 'finalized' })),
      accounts.read(query('a1', { shape: 'parsed' })),
    ]);
    t.same(
      calls.map(({ addresses, config }) => [
        addresses.length,
        config.commitment,
        config.encoding,
        config.minContextSlot,
      ]),
      [
        [3, 'confirmed', 'base64', 9],
        [1, 'finalized', 'base64', undefined],
        [1, 'confirmed', 'jsonParsed', undefined],
      ],
    );
  },
);

t.test('one account that breaks the response does not fail the others', async (t) => {
  const broken = new GatewayError('upstream_error', 'broke off');
  const { accounts, calls } = open(({ addresses }) => (addresses.includes('a66') ? broken : undefined));
  const outcomes = await Promise.allSettled(Array.from({ length: 100 }, (_, i) => accounts.read(query(`a${i}`))));
  t.same(
    outcomes.flatMap(({ status }, i) => (status === 'rejected' ? [i] : [])),
    [66],
  );
  t.ok(calls.length <= 15, `${calls.length} calls: by halves`);
});

t.test('an error of the whole batch is not retried by halves', async (t) => {
  const down = new GatewayError('upstream_unavailable', 'no node');
  const { accounts, calls } = open(() => down);
  const outcomes = await Promise.allSettled(['a1', 'a2', 'a3'].map((address) => accounts.read(query(address))));
  t.ok(outcomes.every(({ status }) => status === 'rejected'));
  t.equal(calls.length, 1);
});

t.test('balances are one call of their own, whatever else is read in the turn', async (t) => {
  const { accounts, calls } = open();
  const options = { commitment: 'confirmed', minContextSlot: undefined } as const;
  const [, balances, others] = await Promise.all([
    accounts.read(query('a1', { minContextSlot: 9 })),
    accounts.readBalances({ ...options, addresses: ['a3', 'none', 'a1'] }),
    accounts.readBalances({ ...options, addresses: ['a2'], minContextSlot: 5 }),
  ]);
  t.same(
    [balances, others],
    [
      { slot: 7, lamports: [3n, 0n, 1n] },
      { slot: 7, lamports: [2n] },
    ],
  );
  t.same(
    calls.map(({ addresses, config }) => [addresses.join(), config.minContextSlot]),
    [
      ['a3,none,a1', undefined],
      ['a2', 5],
      ['a1', 9],
    ],
  );
});

t.test('each request of a batch counts its calls and the bytes of its own accounts', async (t) => {
  const { accounts, calls } = open();
  const [one, other] = [new RequestCost('one', false), new RequestCost('other', false)];
  await Promise.all([
    ...['a1', 'a2', 'a3'].map((address) => accounts.read(query(address, { cost: one }))),
    accounts.read(query('a4', { cost: other })),
    accounts.read(query('a5')), // of the gateway itself: it travels alone
  ]);
  t.same(
    calls.map(({ addresses }) => addresses),
    [['a1', 'a2', 'a3', 'a4'], ['a5']],
  );
  const length = '[{"lamports":1},{"lamports":2},{"lamports":3},{"lamports":4}]'.length;
  t.same([one.calls, one.bytes], [1, 3 * Math.ceil(length / 4)]);
  t.same([other.calls, other.bytes], [1, Math.ceil(length / 4)]);
  await accounts.readBalances({ addresses: ['a1'], commitment: 'confirmed', minContextSlot: undefined, cost: other });
  t.equal(other.calls, 2);
});

t.test('a batch that fails counts, and so do its halves', async (t) => {
  const { accounts } = open(({ addresses }) =>
    addresses.includes('a1') ? new GatewayError('upstream_error', 'too large') : undefined,
  );
  const [one, other] = [new RequestCost('one', false), new RequestCost('other', false)];
  await t.rejects(
    Promise.all([accounts.read(query('a1', { cost: one })), accounts.read(query('a2', { cost: other }))]),
  );
  t.same([one.calls, other.calls], [2, 2]);
});
