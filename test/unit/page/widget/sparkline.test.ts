import t from 'tap';
import { Sparkline } from '../../../../src/page/widget/sparkline.ts';

const pathOf = (...values: readonly (number | null)[]): string => {
  const line = new Sparkline();
  for (const value of values) line.add(value);
  return line.path;
};

t.test('the line ends at the right, between its least and greatest value', async (t) => {
  t.equal(pathOf(), '');
  t.equal(pathOf(null), '');
  t.equal(pathOf(100, 300, 200), 'M57 15L58 1L59 8');
  t.equal(pathOf(7, 7), 'M58 8L59 8', 'values that are equal make a line in the middle');
});

t.test('a gap interrupts it, once', async (t) => {
  t.equal(pathOf(null, 0, 2, null, null, 1), 'M56 15L57 1M59 8');
});

t.test('it keeps sixty values', async (t) => {
  const path = pathOf(...Array.from({ length: 100 }, (_, at) => at));
  t.equal(path.match(/[ML]/g)?.length, 60);
  t.match(path, /^M0 15L1 .*L59 1$/);
});
