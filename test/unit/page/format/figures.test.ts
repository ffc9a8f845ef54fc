import t from 'tap';
import { Figures, formatSpan, shorten } from '../../../../src/page/format/figures.ts';

t.test('figures are written as their reader does', async (t) => {
  const [english, german] = [new Figures('en-US', 'UTC'), new Figures('de-DE', 'UTC')];
  t.equal(english.integer(348_000_123), '348,000,123');
  t.equal(german.integer(348_000_123), '348.000.123');
  t.equal(english.integer(9_007_199_254_740_993n), '9,007,199,254,740,993');
  t.equal(english.decimal('-9007199.254740993'), '−9,007,199.254740993');
  t.equal(german.decimal('9007199.254740993'), '9.007.199,254740993');
  t.equal(english.percent(0.6243), '62.4 %');
  t.equal(english.milliseconds(401.6), '402 ms');
  t.equal(english.usd(1234.5), '$1,234.50');
  t.match(english.time(1_700_000_000), /Nov 14, 2023/);
  t.equal(new Figures('no such tag!').integer(1), '1');
});

t.test('what is not known is a dash', async (t) => {
  const figures = new Figures('en');
  t.same(
    [figures.integer(null), figures.percent(null), figures.milliseconds(null), figures.usd(null), figures.time(null)],
    ['–', '–', '–', '–', '–'],
  );
});

t.test('spans have two units, identifiers their ends', async (t) => {
  const spans = [0, 999, 7000, 61_000, 3_600_000, 65_520_000, 90_000_000, -5];
  t.same(spans.map(formatSpan), ['0 s', '0 s', '7 s', '1 m 1 s', '1 h', '18 h 12 m', '1 d 1 h', '0 s']);
  t.same([shorten('8TzxAAAAAAAApVA5'), shorten('short')], ['8Tzx…pVA5', 'short']);
});
