import bs58 from 'bs58';
import fc from 'fast-check';
import t from 'tap';
import { decodeBase58, encodeBase58, isBase58Of } from '../../../../src/solana/codec/base58.ts';

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
