import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { MinuteFiles } from '../../../src/gateway/network-history/minute-files.ts';
import { NetworkHistory } from '../../../src/gateway/network-history/network-history.ts';
import type { NetworkRow, Observation } from '../../../src/gateway/network-history/network-row.ts';
import { networkHistory } from '../../../src/gateway/routes/network-history.ts';
import type { RouteContext } from '../../../src/gateway/routes/routing/route.ts';
import { DurableWrites } from '../../../src/shared/runtime/durable-writes.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const FEES = { min: 0n, low: 1n, medium: 2n ** 60n, high: 2n ** 63n, veryHigh: 2n ** 63n, unsafeMax: 2n ** 63n };
const MINUTE_MS = 60_000;

function observationOf(
  clock: ManualClock,
  slot: number,
  blockHeight = slot,
  isHealthy = true,
  nodeVersion = '4.2.0',
): Observation {
  const epoch = { absoluteSlot: slot, blockHeight, epoch: 1, slotIndex: 1, slotsInEpoch: 10, transactionCount: null };
  return {
    snapshot: {
      ...{ slot, blockHeight, epoch: 1, epochProgress: 0, slotIndex: 1, slotsInEpoch: 10, tps: 7, nonVoteTps: 3 },
      ...{ slotTimeMs: 400, priorityFee: FEES.medium, priorityFeeLevels: FEES, transactionCount: null },
      ...{ consensus: 'tower', health: isHealthy ? 'ok' : 'degraded', seq: slot, stream: 's', updatedAt: clock.now() },
    },
    epoch,
    atMs: clock.monotonic(),
    nodeVersion,
  };
}

const sum = (rows: readonly NetworkRow[], of: (row: NetworkRow) => number | null): number =>
  rows.reduce((total, row) => total + (of(row) ?? 0), 0);

t.test('rows of every step add up to the slots, the skipped ones and the time that have passed', async () => {
  const slots = fc.array(fc.record({ ms: fc.integer({ min: 1, max: 30_000 }), by: fc.nat(3), skipped: fc.nat(2) }), {
    minLength: 2,
    maxLength: 60,
  });
  fc.assert(
    fc.property(slots, (steps) => {
      const clock = new ManualClock(1_700_000_040_000); // a whole minute
      const history = new NetworkHistory(clock);
      let [slot, height] = [1000, 900];
      history.observe(observationOf(clock, slot, height));
      const startMs = clock.now();
      let reachedMs = startMs;
      for (const { ms, by, skipped } of steps) {
        clock.advance(ms);
        slot += by;
        height += Math.max(0, by - skipped);
        if (by > 0) reachedMs = clock.now();
        history.observe(observationOf(clock, slot, height));
      }
      const last = { slot, height };
      clock.advance(MINUTE_MS);
      history.observe(observationOf(clock, last.slot, last.height)); // ends the row before
      for (const step of ['10', '60'] as const) {
        const { rows } = history.read(step, '1h', slot);
        const skipped = slot - 1000 - (height - 900);
        const timeMs = sum(rows, (row) => (row.slotTimeMs ?? 0) * row.slots);
        if (sum(rows, (row) => row.slots) !== slot - 1000 || sum(rows, (row) => row.skippedSlots) !== skipped)
          return false;
        if (Math.abs(timeMs - (slot === 1000 ? 0 : reachedMs - startMs)) > 0.05 * (slot - 1000) + 0.01) return false;
        if (
          rows.some(({ endedAt }, i) => endedAt % (Number(step) * 1000) !== 0 || endedAt <= (rows[i - 1]?.endedAt ?? 0))
        )
          return false;
      }
      return true;
    }),
    { numRuns: 200 },
  );
});

t.test('ten minutes of a week become one row, with the worst health', async (t) => {
  const clock = new ManualClock(1_700_000_400_000); // a multiple of ten minutes
  const history = new NetworkHistory(clock);
  for (let i = 0; i <= 20; i++) {
    history.observe(observationOf(clock, 1000 + 150 * i, 900 + 140 * i, i !== 3));
    clock.advance(MINUTE_MS);
  }
  const { step, rows } = history.read('slot', '7d', 10_000);
  t.equal(step, 600);
  const figures = rows.map(({ slots, skippedSlots, health, slotTimeMs }) => [slots, skippedSlots, health, slotTimeMs]);
  t.match(figures, [
    [1350, 90, 'degraded', 400],
    [1500, 100, 'ok', 400],
  ]);
  t.equal(rows[0]?.endedAt, 1_700_000_400_000 + 10 * MINUTE_MS);
  for (const [minutes, ofNewest] of [
    [3, 3 * 150],
    [7, 1500],
  ] as const) {
    for (let i = 0; i < minutes; i++) {
      history.observe(observationOf(clock, 1000 + Math.round((clock.now() - 1_700_000_400_000) / 400)));
      clock.advance(MINUTE_MS);
    }
    const newest = history.read('slot', '7d', 100_000).rows.at(-1);
    const last = history.read('60', '1h', 100_000).rows.at(-1);
    t.strictSame([newest?.slots, newest?.endedAt], [ofNewest, last?.endedAt], 'it ends with its last minute');
  }
  t.strictSame(rows[0]?.priorityFee, { low: 1n, medium: 2n ** 60n, high: 2n ** 63n });
  t.equal(history.read('60', '1h', 1000 + 150 * 5).rows.at(-1)?.slot, 1000 + 150 * 5, 'none beyond the answer');
});

t.test('rows are joined in one turn of the event loop, and written in a later one', async (t) => {
  const history = new NetworkHistory(new ManualClock());
  let turns = 0;
  setImmediate(() => turns++);
  const context = { networkHistory: history, mesh: { tip: () => 7 } } as unknown as RouteContext;
  const answer = new Promise((resolve, reject) => {
    networkHistory.begin({ step: '60', span: '7d' }, context, { cost: undefined } as never, { resolve, reject });
  });
  t.match(await answer, { slot: 7, result: { step: 600, rows: [] } });
  t.equal(turns, 1);
});

t.test('while the network stands still, rows have no rates or fees, and joined rows those of others', async (t) => {
  const clock = new ManualClock(1_700_000_400_000); // a multiple of ten minutes
  const history = new NetworkHistory(clock);
  for (let minute = 0; minute <= 20; minute++) {
    history.observe(observationOf(clock, 1000 + 150 * Math.min(minute, 6)));
    clock.advance(MINUTE_MS);
  }
  const figures = ({ slots, tps, nonVoteTps, priorityFee }: NetworkRow) => [slots, tps, nonVoteTps, priorityFee?.low];
  const still = [0, null, null, undefined];
  const minutes = history.read('60', '1h', 10_000).rows.map(figures);
  t.strictSame(minutes, [still, ...Array(6).fill([150, 7, 3, 1n]), ...Array(13).fill(still)]);
  t.strictSame(history.read('60', '7d', 10_000).rows.map(figures), [[900, 7, 3, 1n], still]);
});

t.test('what a gateway sees first, while it still connects to its nodes, is no fault of the first row', async (t) => {
  const clock = new ManualClock(1_700_000_400_000);
  const history = new NetworkHistory(clock);
  for (const slot of [1000, 1001, 1002]) {
    history.observe(observationOf(clock, slot, slot, slot > 1000));
    clock.advance(MINUTE_MS / 2);
  }
  t.equal(history.read('60', '1h', 10_000).rows[0]?.health, 'ok');
});

t.test('rows stay in order where the wall clock is set back', async (t) => {
  const clock = new ManualClock(1_700_000_400_000);
  const history = new NetworkHistory(clock);
  for (let slot = 1; slot <= 12; slot++) {
    const { snapshot, ...observation } = observationOf(clock, slot);
    const updatedAt = clock.now() - (slot > 6 ? 3 * MINUTE_MS : 0);
    history.observe({ ...observation, snapshot: { ...snapshot, updatedAt } });
    clock.advance(MINUTE_MS);
  }
  const ends = history.read('60', '1h', 100).rows.map(({ endedAt }) => endedAt);
  t.strictSame(ends, [...new Set(ends)].sort());
  t.equal(ends.length, 8);
});

t.test('a clock that was days ahead leaves no rows of the future, and stops nothing once it is right', async (t) => {
  const DAYS_AHEAD = 3;
  const clock = new ManualClock(1_700_000_400_000);
  const stored: NetworkRow[] = [];
  const store = {
    read: async () => [...stored],
    append: (row: NetworkRow) => void stored.push(row),
    removeBetween: () => t.fail('nothing is removed'),
  };
  let slot = 1;
  const run = (history: NetworkHistory, minutes: number, aheadMs = 0): void => {
    for (let i = 0; i < minutes; i++) {
      const { snapshot, ...observation } = observationOf(clock, slot++);
      history.observe({ ...observation, snapshot: { ...snapshot, updatedAt: clock.now() + aheadMs } });
      clock.advance(MINUTE_MS);
    }
  };
  const wrong = { now: (): number => clock.now() + aheadMs };
  let aheadMs = DAYS_AHEAD * 24 * 60 * MINUTE_MS;
  const history = new NetworkHistory(wrong);
  await history.continueFrom(store);
  run(history, 100, aheadMs);
  aheadMs = 0; // it is corrected
  t.strictSame(history.read('60', '24h', slot).rows, []);
  run(history, 30);
  t.equal(history.read('60', '1h', slot).rows.length, 29);
  t.equal(history.read('slot', '5m', slot).rows.length, 4);

  const restarted = new NetworkHistory(clock); // over a store that has all rows
  await restarted.continueFrom(store);
  run(restarted, 10);
  const { rows } = restarted.read('60', '24h', slot);
  t.equal(rows.length, 29 + 9);
  const ends = rows.map(({ endedAt }) => endedAt);
  t.strictSame(ends, [...new Set(ends)].sort());

  aheadMs = -30 * 24 * 60 * MINUTE_MS;
  const behind = new NetworkHistory(wrong);
  await behind.continueFrom(store);
  run(behind, 5, aheadMs);
  t.equal(behind.read('60', '24h', slot).rows.length, 4);
  aheadMs = 0;
  run(behind, 10);
  const restored = behind.read('60', '24h', slot).rows.map(({ endedAt }) => endedAt);
  t.equal(restored.length, 29 + 9 + 9, 'a clock that is set ahead shows what the store has');
  t.strictSame(restored, [...new Set(restored)].sort());

  aheadMs = -30 * 24 * 60 * MINUTE_MS;
  const doubted = new NetworkHistory(wrong);
  await doubted.continueFrom({ ...store, removeBetween: () => {} });
  aheadMs = 0;
  clock.advance(30 * MINUTE_MS);
  const old = restored.filter((endedAt) => endedAt <= clock.now() - 60 * MINUTE_MS);
  doubted.dropUnagreed();
  run(doubted, 3);
  t.ok(old.length > 0 && old.length < restored.length);
  t.equal(doubted.read('60', '24h', slot).rows.length, old.length + 2, 'but not what a node that lies may have given');

  aheadMs = -80_000; // a start within a minute that the store has
  const again = new NetworkHistory(wrong);
  await again.continueFrom(store);
  run(again, 5, aheadMs);
  const shown = again.read('60', '5m', slot).rows.map(({ endedAt }) => endedAt);
  t.ok(shown.length > 3);
  t.strictSame(shown, [...new Set(shown)].sort(), 'of two minutes that end together one is shown');
});

t.test('what a node calls its version is kept if it looks like one', async (t) => {
  for (const [version, kept] of [
    ['4.2.0-rc.1', '4.2.0-rc.1'],
    ['9'.repeat(33), null],
    ['<b>', null],
  ] as const) {
    const clock = new ManualClock();
    const history = new NetworkHistory(clock);
    for (const slot of [1, 2]) history.observe(observationOf(clock, slot, slot, true, version));
    t.equal(history.read('slot', '5m', 2).rows[0]?.nodeVersion, kept, version);
  }
});

t.test('minutes outlive the process, each cluster has its own, and only a cut line is lost', async (t) => {
  const folder = join(t.testdir({}), 'network-history');
  const clock = new ManualClock(1_700_000_040_000);
  const problems: string[] = [];
  const unusable: string[] = [];
  const writes = new DurableWrites({ clock, onProblem: (problem) => problems.push(problem), onRecovery: () => {} });
  t.teardown(() => writes.close());
  const start = async (cluster: string): Promise<NetworkHistory> => {
    const history = new NetworkHistory(clock);
    await history.continueFrom(
      new MinuteFiles({ folder, cluster, clock, writes, onUnusable: (name) => unusable.push(name) }),
    );
    return history;
  };
  const run = (history: NetworkHistory, minutes: number): void => {
    for (let i = 0; i <= minutes; i++) {
      history.observe(observationOf(clock, Math.round(clock.now() / 400)));
      if (i < minutes) clock.advance(MINUTE_MS);
    }
  };
  const dayFiles = (): string[] => readdirSync(folder).filter((each) => each.endsWith('.jsonl'));
  const rowsOf = (history: NetworkHistory): readonly NetworkRow[] => history.read('60', '24h', 2 ** 50).rows;
  const first = await start('A'.repeat(44));
  run(first, 3);
  t.strictSame(rowsOf(await start('A'.repeat(44))), rowsOf(first), 'with every digit of the fees');
  t.equal(rowsOf(first).length, 3);
  t.equal(rowsOf(await start('B'.repeat(44))).length, 0);
  const [name = ''] = dayFiles();
  appendFileSync(join(folder, name), '\n{"endedAt":17000002800');
  const second = await start('A'.repeat(44));
  run(second, 2);
  t.equal(rowsOf(await start('A'.repeat(44))).length, 5, 'the cut line ends with the next one');
  const early = { now: () => clock.now() - 24 * 60 * MINUTE_MS }; // a board that starts before its time is set
  const files = new MinuteFiles({ folder, cluster: 'A'.repeat(44), clock: early, writes, onUnusable: () => {} });
  const behind = new NetworkHistory(early);
  await behind.continueFrom(files);
  t.equal(rowsOf(behind).length, 0);
  behind.dropUnagreed();
  t.equal(rowsOf(await start('A'.repeat(44))).length, 5, 'a clock that is behind at a start erases nothing');
  clock.advance(57 * MINUTE_MS);
  const third = await start('A'.repeat(44));
  run(third, 2);
  third.dropUnagreed();
  t.equal(rowsOf(third).length, 4, 'of the last hour nothing is left once a node was found to lie');
  t.strictSame(rowsOf(await start('A'.repeat(44))), rowsOf(third), 'on the disk, too');
  t.strictSame(third.read('slot', '5m', 2 ** 50).rows, []);
  const ahead = { now: () => clock.now() + 30 * 24 * 60 * MINUTE_MS };
  await new MinuteFiles({ folder, cluster: 'A'.repeat(44), clock: ahead, writes, onUnusable: () => {} }).read();
  t.strictSame(rowsOf(await start('A'.repeat(44))), rowsOf(third), 'a clock that is ahead at a start erases nothing');
  clock.advance(6 * 24 * 60 * MINUTE_MS);
  t.equal((await start('A'.repeat(44))).read('60', '7d', 2 ** 50).rows.length > 0, true);
  clock.advance(3 * 24 * 60 * MINUTE_MS);
  const other = await start('B'.repeat(44));
  t.strictSame(dayFiles(), [], 'a day that is too old is removed');
  for (let day = 0; day < 12; day++) {
    run(other, 1);
    clock.advance(24 * 60 * MINUTE_MS);
  }
  t.equal(dayFiles().length, 8, 'while it runs, too');
  const fromAhead = new MinuteFiles({ folder, cluster: 'B'.repeat(44), clock: ahead, writes, onUnusable: () => {} });
  for (const row of other.read('60', '7d', 2 ** 50).rows.slice(-1))
    for (let day = 0; day < 10; day++) fromAhead.append({ ...row, endedAt: ahead.now() - day * 24 * 60 * MINUTE_MS });
  t.equal(dayFiles().length, 8);
  run(other, 1);
  t.equal(rowsOf(await start('B'.repeat(44))).length, 1, 'days of a clock that was ahead drive none out');
  const unreadable = dayFiles().sort().at(-1) ?? '';
  const unreadablePath = join(folder, unreadable);
  const makers = [
    ...(existsSync('/usr/bin/mkfifo') ? [() => execFileSync('/usr/bin/mkfifo', [unreadablePath])] : []),
    () => writeFileSync(unreadablePath, Buffer.alloc(5 << 20, '\n')),
    () => mkdirSync(unreadablePath),
  ];
  for (const make of makers) {
    rmSync(unreadablePath);
    make();
    t.equal((await start('B'.repeat(44))).read('60', '7d', 2 ** 50).rows.length > 0, true);
    t.strictSame(unusable.splice(0), [unreadable], 'one that cannot be read costs its own rows');
  }
  const onUnusable = (name: string): void => void unusable.push(name);
  const ofB = new MinuteFiles({ folder, cluster: 'B'.repeat(44), clock, writes, onUnusable });
  ofB.removeBetween(0, clock.now());
  t.strictSame(unusable, [unreadable], 'where rows are removed, too');
  t.strictSame(problems, []);
});

t.test('minutes are read in turns, and a lie that is found in between leaves none of the last hour', async (t) => {
  const folder = t.testdir({});
  const clock = new ManualClock(1_700_000_040_000);
  const observed = new NetworkHistory(clock);
  for (const slot of [1, 2]) {
    observed.observe(observationOf(clock, slot));
    clock.advance(MINUTE_MS);
  }
  const [row] = observed.read('60', '1h', 2).rows;
  const lines = Array.from({ length: 1000 }, (_, i) => {
    const fees = { low: 1, medium: 2, high: 3 };
    return `\n${JSON.stringify({ ...row, endedAt: clock.now() - i * MINUTE_MS, priorityFee: fees })}`;
  });
  const cluster = 'A'.repeat(44);
  appendFileSync(join(folder, `${cluster.slice(0, 16)}.2023-11-14.jsonl`), lines.join(''));
  const writes = { keep: () => {} };
  const history = new NetworkHistory(clock);
  let turns = 0;
  const read = history.continueFrom(new MinuteFiles({ folder, cluster, clock, writes, onUnusable: () => t.fail() }));
  setImmediate(() => history.dropUnagreed());
  let isRead = false;
  void read.then(() => (isRead = true));
  for (; !isRead; turns++) await new Promise(setImmediate);
  t.ok(turns >= 10, `${turns} turns`);
  t.equal(history.read('60', '24h', 2).rows.length, 1000 - 60);
});

t.test('minutes that the disk refuses are written once it accepts them', async (t) => {
  const folder = join(t.testdir({ file: '' }), 'file', 'network-history'); // no folder can be below a file
  const clock = new ManualClock(1_700_000_040_000);
  const writes = new DurableWrites({ clock, onProblem: () => {}, onRecovery: () => {} });
  t.teardown(() => writes.close());
  const history = new NetworkHistory(clock);
  await history.continueFrom(new MinuteFiles({ folder, cluster: 'C'.repeat(44), clock, writes, onUnusable: () => {} }));
  for (let i = 0; i < 150; i++) {
    history.observe(observationOf(clock, 100 + i));
    clock.advance(MINUTE_MS);
  }
  t.match(writes.problems(), [/the history of the network can't be written, and is kept in memory until it can/]);
  rmSync(join(folder, '..'));
  clock.advance(1000); // the time of the next try
  t.strictSame(writes.problems(), []);
  const files = new MinuteFiles({ folder, cluster: 'C'.repeat(44), clock, writes, onUnusable: () => {} });
  t.equal((await files.read()).length, 100, 'some in each turn of the event loop');
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  t.equal((await files.read()).length, 149, 'those of more than an hour');

  const [name = ''] = readdirSync(folder).filter((each) => each.endsWith('.jsonl'));
  const long = name.replace('.jsonl', `${'x'.repeat(240 - name.length)}.jsonl`); // the one that replaces it has a name that is too long
  renameSync(join(folder, name), join(folder, long));
  files.removeBetween(0, clock.now());
  clock.advance(1000);
  t.match(writes.problems(), [/the history of the network can't be written/], 'a removal that fails is reported');
  renameSync(join(folder, long), join(folder, name));
  clock.advance(1000);
  t.strictSame(writes.problems(), []);
  t.strictSame(await files.read(), [], 'and tried again');
});
