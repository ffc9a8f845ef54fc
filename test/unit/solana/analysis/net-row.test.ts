import t from 'tap';
import { knownMintSymbol } from '../../../../src/solana/accounts/known-mints.ts';
import { type NetRow, netRowOf } from '../../../../src/solana/analysis/net-row.ts';
import { normalizeTransaction } from '../../../../src/solana/transactions/transaction.ts';
import { type RecordedTransaction, recordedTransactions } from '../../../support/recorded-transactions.ts';

const context = { confirmationStatus: 'finalized', symbolOf: knownMintSymbol } as const;
const recordings = ['transactions', 'mainnet-block'].flatMap(recordedTransactions);

/** Returns a row's amounts by mint; those of SOL under SOL. */
const amountsOf = ({ changes }: NetRow): Record<string, string> =>
  Object.fromEntries(changes.map(({ asset, mint, amount }) => [asset === 'SOL' ? 'SOL' : mint, amount]));

/** The members of a node's record that hold balances. */
interface RawRecord {
  readonly meta: {
    readonly fee: number | bigint;
    readonly err: unknown;
    readonly preBalances: readonly (number | bigint)[];
    readonly postBalances: readonly (number | bigint)[];
    readonly preTokenBalances?: readonly RawTokenBalance[] | null;
    readonly postTokenBalances?: readonly RawTokenBalance[] | null;
  } | null;
}

interface RawTokenBalance {
  readonly mint: string;
  readonly owner?: string;
  readonly uiTokenAmount: { readonly amount: string };
}

/** Returns the fee payer's balance changes as the raw record has them. */
function rawChanges({ result, transaction }: RecordedTransaction): Record<string, string> | undefined {
  const { meta } = result as RawRecord; // as nodes return it
  if (meta === null || [meta.preTokenBalances, meta.postTokenBalances].some(lacksOwners)) return undefined;
  const sums = new Map([['SOL', BigInt(meta.postBalances[0] ?? 0) - BigInt(meta.preBalances[0] ?? 0)]]);
  for (const [sign, balances] of [[-1n, meta.preTokenBalances] as const, [1n, meta.postTokenBalances] as const])
    for (const { mint, owner, uiTokenAmount } of balances ?? [])
      if (owner === transaction.feePayer) sums.set(mint, (sums.get(mint) ?? 0n) + sign * BigInt(uiTokenAmount.amount));
  return Object.fromEntries([...sums].filter(([, sum]) => sum !== 0n).map(([mint, sum]) => [mint, `${sum}`]));
}

const lacksOwners = (balances: readonly RawTokenBalance[] | null | undefined): boolean =>
  balances?.some(({ owner }) => owner === undefined) ?? true;

const sorted = (object: object): object =>
  Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));

t.test('for every recorded fee payer the net row is the change of the balances, and tells the fee', (t) => {
  const wrong: unknown[] = [];
  let checked = 0;
  for (const recording of recordings) {
    const expected = rawChanges(recording);
    if (expected === undefined) continue;
    checked++;
    const { transaction, result, name } = recording;
    const row = netRowOf(transaction.feePayer, transaction, context);
    const { meta } = result as RawRecord; // there is one
    const facts = { ...amountsOf(row), fee: row.fee, status: row.status };
    const status = meta?.err === null ? 'success' : 'failed';
    const wanted = { ...expected, fee: `${meta?.fee}`, status };
    if (JSON.stringify(sorted(facts)) !== JSON.stringify(sorted(wanted))) wrong.push({ name, facts, wanted });
  }
  t.same(wrong, []);
  t.ok(checked > 900, `${checked} fee payers`);
  t.end();
});

t.test(
  'nothing is gained or lost: the net rows of all accounts sum to the fee, and each token to what was minted',
  (t) => {
    const wrong = recordings.flatMap(({ name, transaction, result }) => {
      const { meta } = result as RawRecord; // as nodes return it
      if (meta === null || name.startsWith('tx-rebuilt/')) return [];
      const lamports = transaction.accounts.map(({ address }) => {
        const sol = netRowOf(address, transaction, context).changes.find(({ asset }) => asset === 'SOL');
        return BigInt(sol?.amount ?? 0);
      });
      const sum = lamports.reduce((total, change) => total + change, 0n);
      const expected = transaction.preBalances.reduce((total, before, i) => {
        return total + (transaction.postBalances[i] ?? 0n) - before;
      }, 0n);
      return sum === expected ? [] : [name];
    });
    t.same(wrong, []);
    t.end();
  },
);

t.test('lamports that a program moved by itself are told', (t) => {
  const found = recordings.find(({ transaction }) => transaction.signatures[0]?.startsWith('3bYXWjjN'));
  const row = found && netRowOf(found.transaction.feePayer, found.transaction, context);
  t.match(row?.changes[0], { asset: 'SOL', mint: null, amount: /^3705\d{7}$/, uiAmount: /^37\.05/ });
  t.end();
});

const [OWNER, OTHER, ACCOUNT, MINT] = ['1', '2', '3', '4'].map((digit) => digit.repeat(44)) as [
  string,
  string,
  string,
  string,
];

/** Makes a record of one token account before and after. */
function record(before: object | null, after: object | null, more: object = {}): unknown {
  const balances = (balance: object | null): object[] =>
    balance === null ? [] : [{ accountIndex: 1, mint: MINT, programId: 'Tokenkeg', ...balance }];
  return {
    slot: 7,
    blockTime: 9,
    transaction: { signatures: ['s'], message: { accountKeys: [OTHER, ACCOUNT], instructions: [] } },
    meta: {
      err: null,
      fee: 5000,
      preBalances: [10_000, 20],
      postBalances: [5000, 20],
      preTokenBalances: balances(before),
      postTokenBalances: balances(after),
      ...more,
    },
  };
}

const amount = (units: number): object => ({ uiTokenAmount: { amount: `${units}`, decimals: 1 } });
const changesOf = (address: string, value: unknown): Record<string, string> =>
  amountsOf(netRowOf(address, normalizeTransaction(value), context));

t.test('an account that changes hands is lost by one and gained by the other', (t) => {
  const handed = record({ owner: OWNER, ...amount(70) }, { owner: OTHER, ...amount(70) });
  t.same(changesOf(OWNER, handed), { [MINT]: '-70' });
  t.same(changesOf(OTHER, handed), { SOL: '-5000', [MINT]: '70' });
  t.same(changesOf(ACCOUNT, handed), {}, 'for itself nothing has changed');
  t.end();
});

t.test('an account that opens or closes, or takes part for itself', (t) => {
  t.same(changesOf(OWNER, record(null, { owner: OWNER, ...amount(5) })), { [MINT]: '5' });
  t.same(changesOf(OWNER, record({ owner: OWNER, ...amount(5) }, null)), { [MINT]: '-5' });
  const paid = record({ owner: OWNER, ...amount(5) }, { owner: OWNER, ...amount(25) });
  t.same(changesOf(ACCOUNT, paid), { [MINT]: '20' });
  t.match(netRowOf(OWNER, normalizeTransaction(paid), context).changes, [{ uiAmount: '2', decimals: 1, symbol: null }]);
  t.same(changesOf(MINT, paid), {});
  t.end();
});

t.test('of a record without balances nothing is known to have changed', (t) => {
  const bare = { slot: 7, transaction: { signatures: ['s'], message: { accountKeys: [OTHER] } }, meta: null };
  const row = netRowOf(OTHER, normalizeTransaction(bare), context);
  t.match(row, { type: 'net', fee: null, changes: [], blockTime: null });
  const half = record({ owner: OWNER, ...amount(5) }, null, { postTokenBalances: null });
  t.same(changesOf(OWNER, half), {});
  t.end();
});
