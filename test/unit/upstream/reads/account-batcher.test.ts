import fc from 'fast-check';
import t from 'tap';
import { GatewayError } from '../../../../src/domain/gateway-error.ts';
import { RequestCost } from '../../../../src/domain/request-cost.ts';
import type { Mesh } from '../../../../src/upstream/mesh/mesh.ts';
import { AccountBatcher, type AccountQuery } from '../../../../src/upstream/reads/account-batcher.ts';
import type { CallOptions } from '../../../../src/upstream/rpc/rpc-response.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

interface Call {
  readonly addresses: readonly string[];
  readonly config: { readonly commitment: string; readonly encoding: string; readonly minContextSlot?: number };
}

/** Starts a node on which each account's balance is the number that its address ends in. */
function open(failWhen: (call: Call) => GatewayError | undefined = () => undefined) {
  const calls: Call[] = [];
  const options: CallOptions[] = [];
  const clock = new ManualClock();
  const mesh: Pick<Mesh, 'call'> = {
    async call(_, [addresses, config] = [], callOptions = {}) {
      if (callOptions.cost !== undefined) callOptions.cost.calls++;
      options.push(callOptions);
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
  return { accounts: new AccountBatcher(mesh, { clock, tip: () => 10 }), clock, calls, options };
}

const notReached = new GatewayError('rpc_error', '-32016: Minimum context slot has not been reached', {
  status: 503,
  rpcCode: -32016,
});

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

t.test('a minimum slot above the tip is read apart, so that it fails nobody else', async (t) => {
  const { accounts, calls } = open(({ config }) => ((config.minContextSlot ?? 0) > 10 ? notReached : undefined));
  const outcomes = await Promise.allSettled([
    accounts.read(query('a1')),
    accounts.read(query('a2', { minContextSlot: 14 })),
    accounts.read(query('a3', { minContextSlot: 10 })),
  ]);
  t.same(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  t.equal(calls.length, 2);
});

t.test(
  'no read fails for the slot, the size or the time of another, and the calls that takes are bounded',
  async () => {
    const kinds = [
      new GatewayError('upstream_error', 'broke off'),
      new GatewayError('upstream_timeout', 'no node answered in time'),
      new GatewayError('result_too_large', 'too long'),
      new GatewayError('rpc_error', '-32000: response too large', { status: 502, rpcCode: -32000 }),
    ] as const;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 2, max: 100 }),
        fc.uniqueArray(fc.nat(99), { maxLength: 100 }),
        fc.constantFrom(...kinds, undefined),
        async (count, bad, failure) => {
          // Without a failure of one account, the bad ones ask for a slot that the node has not reached.
          const { accounts, calls } = open(({ addresses, config }) => {
            if (failure === undefined) return (config.minContextSlot ?? 0) > 7 ? notReached : undefined;
            return addresses.some((address) => bad.includes(Number(address.slice(1)))) ? failure : undefined;
          });
          const outcomes = await Promise.allSettled(
            Array.from({ length: count }, (_, i) =>
              accounts.read(query(`a${i}`, { minContextSlot: failure === undefined && bad.includes(i) ? 9 : 5 })),
            ),
          );
          const fits = outcomes.every(({ status }, i) => (status === 'rejected') === bad.includes(i));
          return fits && calls.length <= 1 + count + 2 * Math.ceil(Math.log2(count));
        },
      ),
    );
  },
);

t.test('one bad account in a hundred is found by halves', async (t) => {
  const broken = new GatewayError('upstream_error', 'broke off');
  const { accounts, calls } = open(({ addresses }) => (addresses.includes('a66') ? broken : undefined));
  await Promise.allSettled(Array.from({ length: 100 }, (_, i) => accounts.read(query(`a${i}`))));
  t.ok(calls.length <= 15, `${calls.length} calls`);
});

t.test('the parts of a failed batch are read for a second at most', async (t) => {
  const { accounts, clock, calls } = open(() => {
    clock.advance(600);
    return new GatewayError('upstream_timeout', 'no node answered in time');
  });
  const outcomes = await Promise.allSettled(Array.from({ length: 64 }, (_, i) => accounts.read(query(`a${i}`))));
  t.ok(outcomes.every(({ status }) => status === 'rejected'));
  t.equal(calls.length, 3, 'the batch and its halves');
});

t.test('an account that was large is read alone from then on', async (t) => {
  const { accounts, calls } = open();
  const pad = `1,"data":"${'x'.repeat(300_000)}"`;
  const readAll = (): Promise<unknown> =>
    Promise.all([`a${pad}`, 'a2', 'a3'].map((address) => accounts.read(query(address, { shape: 'parsed' }))));
  await readAll();
  await readAll();
  t.same(
    calls.map(({ addresses }) => addresses.length),
    [3, 1, 2],
  );
});

t.test(
  'a shared call is paid by all, each its own bytes, and counts for the caller with the fewest reads',
  async (t) => {
    const { accounts, options } = open();
    const [one, many] = [new RequestCost('one', false), new RequestCost('many', false)];
    await Promise.all([
      ...['a1', 'a2', 'a3'].map((address) => accounts.read(query(address, { cost: many }))),
      accounts.read(query('a4', { cost: one })),
      accounts.read(query('a5')),
    ]);
    t.same(
      options.map(({ cost }) => cost?.caller),
      ['one', undefined],
      'work of the gateway itself is a call of its own',
    );
    const bytes = '{"lamports":1}'.length;
    t.match(
      [one, many],
      [
        { calls: 1, bytes },
        { calls: 1, bytes: 3 * bytes },
      ],
    );
    await accounts.readBalances({ addresses: ['a1'], commitment: 'confirmed', minContextSlot: undefined, cost: one });
    t.equal(one.calls, 2);
  },
);

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
