import fc from 'fast-check';
import t from 'tap';
import { parseExactJson } from '../../src/cluster/exact-json.ts';
import { toJson } from '../../src/domain/json.ts';

t.test('integers of any length come through as they were written', async (t) => {
  t.strictSame(parseExactJson('{"id":18446744073709551615,"s":"18446744073709551615"}'), {
    id: 18_446_744_073_709_551_615n,
    s: '18446744073709551615',
  });
  const leaf = fc.oneof(fc.bigInt(), fc.integer(), fc.string({ unit: 'binary' }), fc.boolean(), fc.constant(null));
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ withCrossShrink: true, maxDepth: 3 }, leaf, tie('list'), tie('object')),
    list: fc.array(tie('value'), { maxLength: 4 }),
    object: fc.dictionary(fc.string(), tie('value'), { maxKeys: 4 }),
  }));
  fc.assert(
    fc.property(value, (value) => {
      const text = toJson(value);
      t.equal(toJson(parseExactJson(text)), text);
    }),
  );
});

t.test('what is not JSON is refused, long integers or not', async (t) => {
  for (const text of ['', '{"id":', '[01234567890123456789]', '[1234567890123456789', '"\n1234567890123456789"']) {
    t.throws(() => parseExactJson(text), SyntaxError, text);
  }
});
