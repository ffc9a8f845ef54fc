import t from 'tap';
import { parseExactJson } from '../../../../src/domain/parse-exact-json.ts';
import { toJson } from '../../../../src/domain/to-json.ts';
import { WRAPPED_SOL } from '../../../../src/solana/accounts/known-mints.ts';
import { formatUnits } from '../../../../src/solana/codec/format-decimal.ts';
import { type EnhancedTransaction, enhanceTransaction } from '../../../../src/solana/explain/enhanced-transaction.ts';
import { explainTransaction, MAX_EXPLANATION_LENGTH } from '../../../../src/solana/explain/explain-transaction.ts';
import { readRecordings, recordedTransactions } from '../../../support/recorded-transactions.ts';
import { expectListedDifferences } from '../difference-table.ts';
import { expectedSwaps } from '../expected-swaps.ts';

const all = ['transactions', 'mainnet-block'].flatMap(recordedTransactions);
const enhanced = new Map(all.map(({ name, transaction }) => [name, enhanceTransaction(transaction)]));
const bySignature = new Map(all.map(({ name, transaction }) => [transaction.signatures[0], enhanced.get(name)]));

t.test('the enhanced view throws for no recorded transaction', async (t) => {
  t.equal(enhanced.size, all.length);
  t.ok(all.length > 2000);
});

t.test(
  'every explanation is one or two sentences of at most 280 characters, and says nothing that is not known',
  async (t) => {
    const unsound: string[] = [];
    for (const [name, view] of enhanced) {
      const text = explainTransaction(view);
      const isSound =
        text.length <= MAX_EXPLANATION_LENGTH && /\.$/.test(text) && !/undefined|null|NaN| {2}|…\.…/.test(text);
      if (!isSound || text !== explainTransaction(view)) unsound.push(`${name}: ${text}`);
    }
    t.strictSame(unsound, []);
  },
);

t.test('an enhanced view is explained alike before and after JSON', async (t) => {
  const changed = [...enhanced].filter(([, view]) => {
    const received = parseExactJson(toJson(view)) as EnhancedTransaction; // what toJson wrote, read back
    return explainTransaction(received) !== explainTransaction(view);
  });
  t.strictSame(
    changed.map(([name]) => name),
    [],
  );
});

t.test('a record with missing parts still has an enhanced view', async (t) => {
  const optional = [
    'logs',
    'preTokenBalances',
    'postTokenBalances',
    'computeUnitsConsumed',
    'fee',
    'blockTime',
  ] as const;
  const texts = all
    .slice(0, 400)
    .flatMap(({ transaction }) => [
      ...optional.map((part) => ({ ...transaction, [part]: null })),
      { ...transaction, preBalances: [], postBalances: [] },
    ])
    .map((incomplete) => explainTransaction(enhanceTransaction(incomplete)));
  t.equal(texts.length, 2800);
  t.strictSame(
    texts.filter((text) => !text.endsWith('.')),
    [],
  );
});

t.test('only transactions that a person could not classify either are UNKNOWN', async (t) => {
  const classified = [...enhanced.values()].filter(({ status, type }) => status === 'success' && type !== 'UNKNOWN');
  const unclassified = [...enhanced.values()].filter(({ status, type }) => status === 'success' && type === 'UNKNOWN');
  const share = (unclassified.length / (classified.length + unclassified.length)) * 100;
  t.comment(
    `${unclassified.length} of ${classified.length + unclassified.length} successful transactions are UNKNOWN: ${share.toFixed(1)} %`,
  );
  expectListedDifferences(t, 'unknown-types.txt', [
    ...new Set(unclassified.map(({ source, description }) => `${source}\t${description.split('; ')[1] ?? ''}`)),
  ]);
});

t.test('types, sources and transfers equal those of Helius, except the listed differences', async (t) => {
  const differences: string[] = [];
  for (const { name, view, helius } of heliusOutputs()) {
    const compare = (what: string, ours: string, theirs: string): void => {
      if (ours !== theirs) differences.push(`${name}\t${what}: ${theirs} -> ${ours}`);
    };
    compare('type', view.type, String(helius['type']));
    compare('source', view.source, String(helius['source']));
    const native = (transfers: unknown): string =>
      listed(transfers, (row) => `${row['fromUserAccount']}>${row['toUserAccount']} ${row['amount']}`);
    const token = (transfers: unknown): string =>
      listed(
        transfers,
        (row) =>
          `${row['fromTokenAccount'] ?? ''}>${row['toTokenAccount'] ?? ''} ${Number(row['uiAmount'] ?? row['tokenAmount'])} ${row['mint']}`,
      );
    const changes = (data: unknown): string => listed(data, (row) => `${row['account']} ${row['nativeBalanceChange']}`);
    compare(
      'native transfers',
      only(native(view.nativeTransfers), native(helius['nativeTransfers'])),
      only(native(helius['nativeTransfers']), native(view.nativeTransfers)),
    );
    compare(
      'token transfers',
      only(token(view.tokenTransfers), token(helius['tokenTransfers'])),
      only(token(helius['tokenTransfers']), token(view.tokenTransfers)),
    );
    compare('native balance changes', changes(view.accountData), changes(helius['accountData']));
  }
  expectListedDifferences(t, 'helius-differences.txt', differences);
});

t.test('swaps equal those that other parsers find, except the listed differences', async (t) => {
  const differences: string[] = [];
  let compared = 0;
  for (const { name, signature, text } of expectedSwaps()) {
    const view = bySignature.get(signature);
    if (view === undefined) continue;
    compared += 1;
    const ours = swapText(view);
    if (ours !== text) differences.push(`${name}\t${text} -> ${ours}`);
  }
  t.comment(`${compared - differences.length} of ${compared} swaps are equal`);
  expectListedDifferences(t, 'swap-differences.txt', differences);
});

type Row = Readonly<Record<string, unknown>>;

/** Returns Helius' outputs, each with our view of the same transaction. */
function heliusOutputs(): { readonly name: string; readonly view: EnhancedTransaction; readonly helius: Row }[] {
  return readRecordings('helius').flatMap((line) => {
    const { name, result } = parseExactJson(line) as { name: string; result: Row[] | Row }; // as it was packed
    const helius = Array.isArray(result) ? result[0] : (result as Row);
    const view = bySignature.get(String(helius?.['signature']));
    return helius === undefined || view === undefined ? [] : [{ name, view, helius }];
  });
}

const listed = (rows: unknown, text: (row: Row) => string): string =>
  (Array.isArray(rows) ? rows : []).map(text).sort().join(', ');

/** Returns the items of the first list that the second lacks. */
function only(list: string, other: string): string {
  const rest = other.split(', ');
  return list
    .split(', ')
    .filter((one) => {
      const at = rest.indexOf(one);
      if (at >= 0) rest.splice(at, 1);
      return at < 0;
    })
    .join(', ');
}

function swapText({ events: { swap } }: EnhancedTransaction): string {
  if (swap === undefined) return 'none';
  const { nativeInput, nativeOutput, tokenInputs, tokenOutputs } = swap;
  const tokens = (side: typeof tokenInputs): string[] =>
    side.map(
      ({ rawTokenAmount: { tokenAmount, decimals }, mint }) => `${formatUnits(BigInt(tokenAmount), decimals)} ${mint}`,
    );
  const sol = (side: typeof nativeInput): string[] =>
    side === null ? [] : [`${formatUnits(BigInt(side.amount), 9)} ${WRAPPED_SOL}`];
  const wallet = nativeInput?.account ?? tokenInputs[0]?.userAccount;
  return `${wallet}: ${[...sol(nativeInput), ...tokens(tokenInputs)].join(' + ')} > ${[...sol(nativeOutput), ...tokens(tokenOutputs)].join(' + ')}`;
}
