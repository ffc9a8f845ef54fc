import fc from 'fast-check';
import t from 'tap';
import { parseExactJson } from '../../../src/domain/parse-exact-json.ts';
import { toJson } from '../../../src/domain/to-json.ts';
import { anyCharacter } from '../../support/any-character.ts';

t.test('integers beyond 2^53 stay exact, the others stay numbers', async (t) => {
  const text = '[18446744073709551615,-9007199254740993,9007199254740991,1e21,0.1234567890123456,12e1]';
  t.strictSame(parseExactJson(text), [
    18446744073709551615n,
    -9007199254740993n,
    9007199254740991,
    1e21,
    0.1234567890123456,
    120,
  ]);
});

t.test('a string is never parsed as a number', async (t) => {
  const hostile = {
    '18446744073709551615': '18446744073709551615',
    '\0': ['\0' + '18446744073709551615', '\0\0', '"1'],
  };
  t.strictSame(parseExactJson(JSON.stringify({ ...hostile, exact: 0 }).replace(/0}$/, '18446744073709551615}')), {
    ...hostile,
    exact: 18446744073709551615n,
  });
});

t.test('a string without an end is refused at once, however many quotes are in it', async (t) => {
  for (const quote of ['\\"', '"\\\n', '\\\\"'])
    t.throws(() => parseExactJson(`1234567890123456"${quote.repeat(100_000)}`), SyntaxError);
});

t.test('written values are read back unchanged', async () => {
  const big = fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n });
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      big,
      fc.maxSafeInteger(),
      fc.string({ unit: anyCharacter }),
      tie('list'),
      tie('object'),
    ),
    list: fc.array(tie('tree')),
    object: fc.dictionary(fc.string(), tie('tree'), { noNullPrototype: true }),
  }));
  fc.assert(fc.property(tree, (value) => toJson(parseExactJson(toJson(value))) === toJson(value)));
});

t.test('invalid JSON is rejected, with long integers or without', async (t) => {
  for (const text of ['', '{"id":', '[01234567890123456789]', '[1234567890123456789', '"\n1234567890123456789"']) {
    t.throws(() => parseExactJson(text), SyntaxError, text);
  }
});
