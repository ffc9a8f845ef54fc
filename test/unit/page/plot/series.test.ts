import t from 'tap';
import { FeeLevels } from '../../../../src/page/plot/fee-levels.ts';
import { TimeSeries } from '../../../../src/page/plot/series.ts';
import { SlotPace } from '../../../../src/page/plot/slot-pace.ts';
import { extentOf, summarize, tableRows } from '../../../../src/page/plot/summary.ts';
import { TransactionRates } from '../../../../src/page/plot/transaction-rates.ts';

const levels = (medium: number) => ({ low: medium - 1, medium, high: BigInt(medium) + 1n });

t.test('a series keeps its span, one point a second, and its gaps', async (t) => {
  const series = new TimeSeries(1, 10);
  for (let second = 0; second < 30; second++) series.set(second, [second]);
  series.set(29, [7]);
  series.set(3, [7]); // the clock was set back
  t.same(series.columns[0]?.length, 10);
  t.same([series.columns[0]?.at(-1), series.columns[1]?.at(-1)], [29, 7]);
  series.addGap();
  t.same([series.columns[0]?.at(-1), series.columns[1]?.at(-1)], [30, null]);
});

t.test('the pace is of the clock of the gateway, in bins of a second; a restart is a gap', async (t) => {
  const pace = new SlotPace();
  const frames = [0, 400, 800, 1300, 1700, 2100].map((ms, at) => ({ slot: 100 + at, stream: 'a', updatedAt: ms }));
  for (const frame of frames) pace.add(frame);
  pace.add({ slot: 105, stream: 'a', updatedAt: 2500 }); // no new slot
  t.same(pace.columns, [
    [1, 2],
    [450, 400],
  ]);
  pace.add({ slot: 1, stream: 'b', updatedAt: 9000 });
  pace.add({ slot: 2, stream: 'b', updatedAt: 9900 });
  pace.add({ slot: 3, stream: 'b', updatedAt: 10_300 });
  t.same(pace.columns, [
    [1, 2, 3, 10],
    [450, 400, null, 400],
  ]);
});

t.test('levels of fees outlive a reload, and no other stream', async (t) => {
  const fees = new FeeLevels();
  fees.add({ stream: 'a', updatedAt: 2000, priorityFeeLevels: levels(5) });
  fees.add({ stream: 'a', updatedAt: 4100, priorityFeeLevels: levels(6) });
  fees.add({ stream: 'a', updatedAt: 6100, priorityFeeLevels: null });
  const saved = fees.save();
  const restored = (text: string | null, stream: string) => {
    const again = new FeeLevels();
    again.restore(text, stream);
    return again.columns;
  };
  const empty = [[], [], [], []];
  t.same(fees.columns, [
    [2, 4],
    [4, 5],
    [5, 6],
    [6, 7],
  ]);
  t.same(restored(saved, 'a'), fees.columns);
  t.same(
    [restored(saved, 'b'), restored(null, 'a'), restored('{', 'a'), restored('{"stream":"a"}', 'a')],
    [empty, empty, empty, empty],
  );
});

t.test('rates are signed rows laid out backwards; until the first one, counts of frames', async (t) => {
  const rates = new TransactionRates();
  const count = (updatedAt: number, transactionCount: bigint | null, stream = 'a') =>
    rates.addFrame({ updatedAt, transactionCount, stream });
  count(0, 9_007_199_254_740_993n);
  count(1000, null);
  count(2000, 9_007_199_254_741_093n);
  count(5000, 9_007_199_254_741_493n);
  t.same(rates.columns, [[5], [null], [100]]);
  rates.setRows([], 600);
  t.equal(rates.columns[0]?.length, 1);
  const row = { slot: 1, samplePeriodSecs: 60 };
  rates.setRows(
    [
      { ...row, tps: 30, nonVoteTps: 3 },
      { ...row, tps: 20, nonVoteTps: null },
    ],
    615,
  );
  count(99_000, 1n);
  t.same(rates.columns, [
    [540, 600],
    [null, 3],
    [20, 30],
  ]);
});

t.test('a plot is told in a sentence and a table', async (t) => {
  const columns = [
    [1, 2, 3],
    [5, null, 4],
  ];
  t.same(extentOf(columns, 1), { lowest: 4, highest: 5, newest: 4 });
  t.equal(extentOf([[], []], 1), undefined);
  t.equal(
    summarize('Pace', columns, 1, (value) => `${value} ms`),
    'Pace: now 4 ms, between 4 ms and 5 ms',
  );
  t.equal(summarize('Pace', [[], []], 1, String), 'Pace: no values yet');
  t.same(tableRows(columns, 2), [
    [3, 4],
    [1, 5],
  ]);
});
