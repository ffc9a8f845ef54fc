import fc from 'fast-check';
import t from 'tap';
import { RawJson, toJson } from '../../../src/domain/to-json.ts';

t.test('values of JSON are written as JSON.stringify writes them', async (t) => {
  fc.assert(fc.property(fc.jsonValue(), (value) => toJson(value) === JSON.stringify(value)));
  t.equal(toJson('a"\\\n☃\ud800'), JSON.stringify('a"\\\n☃\ud800'));
  t.equal(toJson({ a: 1, b: undefined, c: null }), '{"a":1,"c":null}');
  t.equal(toJson({ b: undefined }), '{}');
});

t.test('no integer loses a digit, at any depth', async (t) => {
  fc.assert(fc.property(fc.bigInt(), (n) => toJson({ a: [n, { b: n }], c: n }) === `{"a":[${n},{"b":${n}}],"c":${n}}`));
  t.equal(toJson({ lamports: 2n ** 64n - 1n }), '{"lamports":18446744073709551615}');
});

t.test('raw JSON is written verbatim', async (t) => {
  t.equal(
    toJson({ rentEpoch: new RawJson('18446744073709551615'), x: [new RawJson('1.0e3')] }),
    '{"rentEpoch":18446744073709551615,"x":[1.0e3]}',
  );
});

t.test('members keep their order, so equal values have equal bytes', async (t) => {
  t.equal(toJson({ z: 1, a: 2n, m: 'x' }), '{"z":1,"a":2,"m":"x"}');
});
