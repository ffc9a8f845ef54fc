import t from 'tap';
import { parseExactJson } from '../../../../src/domain/parse-exact-json.ts';
import { toJson } from '../../../../src/domain/to-json.ts';
import { WRAPPED_SOL } from '../../../../src/solana/accounts/known-mints.ts';
import { formatUnits } from '../../../../src/solana/codec/format-decimal.ts';
import { type EnhancedTransaction, enhanceTransaction } from '../../../../src/solana/explain/enhanced-transaction.ts';
import { explainTransaction, MAX_EXPLANATION_LENGTH } from '../../../../src/solana/explain/explain-transaction.ts';
import { parseRecording, readRecordings } from '../../../support/recorded-transactions.ts';
import { expectListedDifferences } from '../difference-table.ts';
import { expectedSwaps } from '../expected-swaps.ts';

const all = ['transactions', 'mainnet-block'].flatMap((pack) => readRecordings(pack).map(parseRecording));
const enhanced = new Map(all.map(({ name, transaction }) => [name, enhanceTransaction(transaction)]));
const bySignature = new Map(all.map(({ name, transaction }) => [transaction.signatures[0], enhanced.get(name)]));

t.test('no recorded transaction makes the enhanced view throw', async (t) => {
  t.equal(enhanced.size, all.length);
  t.ok(all.length > 2000);
});

t.test(
  'every explanation is one or two sentences of at most 280 characters, and says nothing that is not known',
  async (t) => {
    const odd: string[] = [];
    for (const [name, view] of enhanced) {
      const text = explainTransaction(view);
      const sound =
        text.length <= MAX_EXPLANATION_LENGTH && /\.$/.test(text) && !/undefined|null|NaN| {2}|…\.…/.test(text);
      if (!sound || text !== explainTransaction(view)) odd.push(`${name}: ${text}`);
    }
    t.strictSame(odd, []);
  },
);

t.test('an enhanced view that was sent as JSON is explained as it was', async (t) => {
  const changed = [...enhanced].filter(([, view]) => {
    const received = parseExactJson(toJson(view)) as EnhancedTransaction; // what toJson wrote, read back
    return explainTransaction(received) !== explainTransaction(view);
  });
  t.strictSame(
    changed.map(([name]) => name),
    [],
  );
});

t.test('a record with parts missing is still told', async (t) => {
  const optional = [
    'logs',
    'preTokenBalances',
    'postTokenBalances',
    'computeUnitsConsumed',
    'fee',
    'blockTime',
  ] as const;
  for (const { transaction } of all.slice(0, 400)) {
    for (const part of optional)
      t.match(explainTransaction(enhanceTransaction({ ...transaction, [part]: null })), /\.$/);
    t.match(explainTransaction(enhanceTransaction({ ...transaction, preBalances: [], postBalances: [] })), /\.$/);
  }
});

t.test('UNKNOWN is only what a person could not tell either', async (t) => {
  const told = [...enhanced.values()].filter(({ status, type }) => status === 'success' && type !== 'UNKNOWN');
  const untold = [...enhanced.values()].filter(({ status, type }) => status === 'success' && type === 'UNKNOWN');
  const share = (untold.length / (told.length + untold.length)) * 100;
  t.comment(
    `${untold.length} of ${told.length + untold.length} successful transactions are UNKNOWN: ${share.toFixed(1)} %`,
  );
  expectListedDifferences(t, 'unknown-types.txt', [
    ...new Set(untold.map(({ source, description }) => `${source}\t${description.split('; ')[1] ?? ''}`)),
  ]);
});

t.test('types, sources and transfers are those of Helius', async (t) => {
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

t.test('swaps are those that other parsers find', async (t) => {
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

/** Helius' outputs beside our view of the same transaction. */
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

/** What is in the first list but not in the second. */
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
