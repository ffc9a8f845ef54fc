import { createHash } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { digestOfKey, generateApiKey, isApiKey } from '../../../../src/access/api-keys/api-key.ts';

t.test('a key is sg_live_, 30 random base62 characters and 6 of a checksum', async (t) => {
  const keys = new Set(Array.from({ length: 1000 }, generateApiKey));
  t.equal(keys.size, 1000);
  for (const key of keys) {
    if (!/^sg_live_[0-9A-Za-z]{36}$/.test(key) || !isApiKey(key)) t.fail(key);
  }
  const seen = new Set([...keys].flatMap((key) => [...key.slice(8, 38)]));
  t.equal(seen.size, 62, 'every digit comes up');
});

t.test('the checksum is CRC-32 in base62, as any scanner can compute it', async (t) => {
  // In Python, zlib.crc32(b'sg_live_' + b'0' * 30) is 3643862950
  t.equal(isApiKey('sg_live_0000000000000000000000000000003ybHD4'), true);
  t.equal(isApiKey('sg_live_0000000000000000000000000000003ybHD0'), false);
});

t.test('one wrong character, a cut or an addition makes a key invalid', async () => {
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-. ';
  fc.assert(
    fc.property(fc.nat({ max: 43 }), fc.constantFrom(...alphabet), (at, character) => {
      const key = generateApiKey();
      const slipped = key.slice(0, at) + character + key.slice(at + 1);
      return isApiKey(slipped) === (slipped === key) && !isApiKey(key + character) && !isApiKey(key.slice(0, at));
    }),
  );
});

t.test('no other text is a key, however long', async (t) => {
  fc.assert(fc.property(fc.string({ maxLength: 60 }), (text) => !isApiKey(text)));
  for (const text of ['a', '_', '\0', '\u{10ffff}']) t.equal(isApiKey(`sg_live_${text.repeat(1_000_000)}`), false);
});

t.test('only the SHA-256 of a key is stored', async (t) => {
  const key = generateApiKey();
  t.equal(digestOfKey(key), createHash('sha256').update(key).digest('hex'));
});
