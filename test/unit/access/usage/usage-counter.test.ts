import { appendFileSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { UsageCounter } from '../../../../src/access/usage/usage-counter.ts';
import { appendUsage, readUsage, usagePath } from '../../../../src/access/usage/usage-file.ts';
import {
  formatUsageLine,
  parseUsageLine,
  REQUEST_OUTCOMES,
  type UsageRow,
} from '../../../../src/access/usage/usage-line.ts';
import { acquirePidLock } from '../../../../src/runtime/files/pid-lock.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const DAY = '2026-06-01';
const START = Date.parse(`${DAY}T12:00:00Z`);

function usageOf(t: Test, text?: string) {
  const path = usagePath(t.testdir(text === undefined ? {} : { 'usage.log': text }));
  const clock = new ManualClock(START);
  const problems: unknown[] = [];
  const recoveries: number[] = [];
  const open = (): UsageCounter =>
    new UsageCounter({
      path,
      clock,
      onProblem: (problem) => problems.push(problem),
      onRecovery: () => recoveries.push(clock.now()),
    });
  return { path, clock, problems, recoveries, open, usage: open() };
}

const row = (counts: readonly number[], more: Partial<UsageRow> = {}): UsageRow => ({
  day: DAY,
  key: 'k',
  route: '/slot',
  counts,
  units: counts.reduce((sum, count) => sum + count, 0),
  ...more,
});

t.test('nothing is written while another gateway compacts the file, and nothing is lost', async (t) => {
  const { path, clock, usage } = usageOf(t);
  const unlock = acquirePidLock(path);
  usage.count('k', '/slot', 'answered', 1);
  clock.advance(1000);
  t.same(readUsage(path), []);
  if (typeof unlock === 'function') unlock();
  usage.count('k', '/slot', 'answered', 1);
  clock.advance(1000);
  t.same(readUsage(path), [row([2, 0, 0, 0])]);
});

t.test('counts are in the file after a second, by day, key, route and outcome', async (t) => {
  const { path, clock, usage } = usageOf(t);
  for (const outcome of REQUEST_OUTCOMES) usage.count('k', '/slot', outcome, 1);
  usage.count('k', '/slot', 'answered', 1);
  usage.count('l', '/slot', 'answered', 1);
  usage.count('k', '/balance/:addr', 'limited', 1);
  clock.advance(999);
  t.same(readUsage(path), []);
  clock.advance(1);
  const first = [row([0, 0, 1, 0], { route: '/balance/:addr' }), row([2, 1, 1, 1]), row([1, 0, 0, 0], { key: 'l' })];
  t.same(readUsage(path), first);
  clock.advance(12 * 3_600_000);
  usage.count('k', '/slot', 'failed', 1);
  usage.close();
  t.same(readUsage(path), [...first, row([0, 0, 0, 1], { day: '2026-06-02' })]);
  t.equal(statSync(path).mode & 0o777, 0o600);
});

t.test('a damaged line is skipped', async () => {
  const rows = fc.array(
    fc.record({
      day: fc.constant(DAY),
      key: fc.string(),
      route: fc.string(),
      counts: fc.array(fc.nat(), { minLength: 4, maxLength: 4 }),
      units: fc.nat(),
    }),
  );
  fc.assert(
    fc.property(rows, fc.nat(), fc.string({ minLength: 1, maxLength: 1 }), (rows, place, character) => {
      const line = formatUsageLine(rows).slice(0, -1);
      const at = place % line.length;
      const damaged = line.slice(0, at) + character + line.slice(at + 1);
      return (
        JSON.stringify(parseUsageLine(line)) === JSON.stringify(rows) &&
        (damaged === line || parseUsageLine(damaged) === undefined)
      );
    }),
  );
});

t.test('46: wherever a kill cut the file off, all whole lines count and new ones follow', async (t) => {
  const whole = formatUsageLine([row([1, 0, 0, 0])]) + formatUsageLine([row([2, 0, 0, 0])]);
  const torn = formatUsageLine([row([4, 0, 0, 0])]);
  for (let length = 0; length < torn.length; length++) {
    const { path, clock, usage, problems } = usageOf(t, whole + torn.slice(0, length));
    usage.count('k', '/slot', 'answered', 1);
    clock.advance(1000);
    t.same(readUsage(path), [row([4, 0, 0, 0])]);
    t.same(problems, []);
  }
});

t.test('damage within the file costs only the damaged line', async (t) => {
  const { path, usage } = usageOf(
    t,
    `${formatUsageLine([row([1, 0, 0, 0])])}\0\0\0garbage\n${formatUsageLine([row([2, 0, 0, 0])])}`,
  );
  t.same(readUsage(path), [row([3, 0, 0, 0])]);
  usage.close();
});

t.test('a large file is rewritten with one row per sum, without old days', async (t) => {
  const lines = Array.from({ length: 30_000 }, () => formatUsageLine([row([1, 1, 1, 1])])).join('');
  const { path, clock, usage } = usageOf(t, formatUsageLine([row([9, 9, 9, 9], { day: '2026-02-01' })]) + lines);
  t.ok(statSync(path).size < 1000);
  t.same(readUsage(path), [row([30_000, 30_000, 30_000, 30_000])]);
  usage.count('k', '/slot', 'answered', 1);
  appendFileSync(path, lines); // as many seconds later
  clock.advance(1000);
  t.ok(statSync(path).size < 1000);
  t.same(readUsage(path), [row([60_001, 60_000, 60_000, 60_000])]);
});

t.test(
  '47: while the file can not be written counting continues, one problem is reported, and nothing is lost',
  async (t) => {
    const { path, clock, usage, problems } = usageOf(t);
    rmSync(t.testdirName, { recursive: true });
    writeFileSync(t.testdirName, 'in the way');
    for (let second = 0; second < 5; second++) {
      usage.count('k', '/slot', 'answered', 1);
      clock.advance(1000);
    }
    t.equal(problems.length, 1);
    t.ok(usage.failures >= 5);
    rmSync(t.testdirName);
    t.testdir();
    clock.advance(1000);
    t.same(readUsage(path), [row([5, 0, 0, 0])]);
  },
);

t.test('a file that can no longer be written is reported once, and its recovery once', async (t) => {
  const { path, clock, problems, recoveries, usage } = usageOf(t, '');
  const rememberedFile = `${path}.aside`;
  usage.count('k', '/slot', 'answered', 1);
  clock.advance(1000);
  renameSync(path, rememberedFile);
  mkdirSync(path); // opening it for writing fails and reading its size works, as on a disk that has become read-only
  for (let second = 0; second < 3; second++) {
    usage.count('k', '/slot', 'answered', 1);
    clock.advance(1000);
  }
  t.same([problems.length, recoveries.length], [1, 0]);
  rmSync(path, { recursive: true });
  renameSync(rememberedFile, path);
  clock.advance(1000);
  t.same([problems.length, recoveries.length], [1, 1]);
  t.same(readUsage(path), [row([4, 0, 0, 0])]);
  usage.count('k', '/slot', 'answered', 1);
  clock.advance(1000);
  t.same([problems.length, recoveries.length], [1, 1]);
});

t.test('47: a full disk is reported', async (t) => {
  t.throws(() => appendUsage('/dev/full', [row([1, 0, 0, 0])]), { code: 'ENOSPC' });
});
