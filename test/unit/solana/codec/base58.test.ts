import bs58 from 'bs58';
import fc from 'fast-check';
import t from 'tap';
import { decodeBase58, encodeBase58, isBase58Of } from '../../../../src/solana/codec/base58.ts';
import { decodeKey, encodeKey } from '../../../../src/solana/codec/base58-key.ts';

t.test('bytes and texts are converted as the library converts them', async (t) => {
  const zeros = fc.nat(8).map((length) => Array<number>(length).fill(0));
  const bytes = fc.oneof(
    fc.constantFrom([255], [1, 0], Array<number>(300).fill(255)),
    fc.array(fc.nat(255), { maxLength: 400 }),
  );
  fc.assert(
    fc.property(zeros, bytes, (first, rest) => {
      const all = Uint8Array.from([...first, ...rest]);
      const text = encodeBase58(all);
      return text === bs58.encode(all) && Buffer.compare(decodeBase58(text) ?? Buffer.of(1), all) === 0;
    }),
  );
  for (const text of ['0', '1O', ' 1', 'z\n', 'é']) t.equal(decodeBase58(text), undefined, text);
});

/** The only length of 0 to 70 bytes that a text may have; undefined for none. */
const lengthOf = (text: string): number | undefined => {
  const lengths = Array.from({ length: 71 }, (_, length) => length).filter((length) => isBase58Of(text, length));
  t.ok(lengths.length < 2, text);
  return lengths[0];
};

t.test('bytes have the length that they are encoded from, leading zeros included', async () => {
  const zeros = fc.nat(8).map((length) => Array<number>(length).fill(0));
  const ends = fc.constantFrom([0], [255], [1], Array<number>(31).fill(255), [1, ...Array<number>(31).fill(0)]);
  const bytes = fc.oneof(ends, fc.array(fc.nat(255), { maxLength: 62 }));
  fc.assert(
    fc.property(zeros, bytes, (first, rest) => {
      const all = Uint8Array.from([...first, ...rest]);
      return lengthOf(bs58.encode(all)) === all.length;
    }),
  );
});

t.test('a text has a length just where a decoder takes it', async () => {
  const unit = fc.constantFrom(
    ...'123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz',
    ...'0OIl +\n\u00e9\u0131',
  );
  const texts = fc.array(unit, { maxLength: 88 }).map((characters) => characters.join(''));
  fc.assert(
    fc.property(texts, (text) => lengthOf(text) === bs58.decodeUnsafe(text)?.length),
    { examples: [[''], ['1'], ['z'.repeat(44)], [' 1'], ['1 '], ['1\n']] },
  );
});

t.test('keys are converted as the library converts them, other texts are none', async (t) => {
  const zeros = fc.nat(32).map((length) => new Uint8Array(length));
  const bytes = fc.oneof(fc.constant(new Uint8Array(32).fill(255)), fc.uint8Array({ minLength: 32, maxLength: 32 }));
  fc.assert(
    fc.property(zeros, bytes, (first, rest) => {
      const key = Buffer.concat([first, rest]).subarray(0, 32);
      return encodeKey(key) === bs58.encode(key) && key.equals(decodeKey(bs58.encode(key)) ?? Buffer.of());
    }),
  );
  const digits = fc.constantFrom(...'123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz');
  fc.assert(
    fc.property(fc.array(digits, { minLength: 30, maxLength: 46 }), (text) => {
      const known = bs58.decode(text.join(''));
      const key = decodeKey(text.join(''));
      return known.length === 32 ? Buffer.compare(known, key ?? Buffer.of()) === 0 : key === undefined;
    }),
  );
  for (const bad of ['', 'z'.repeat(44), '0'.repeat(43), `${'2'.repeat(42)}é`]) t.equal(decodeKey(bad), undefined, bad);
});
