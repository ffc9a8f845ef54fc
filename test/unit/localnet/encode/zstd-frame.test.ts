import fc from 'fast-check';
import t from 'tap';
import { wrapInZstdFrame } from '../../../../src/localnet/encode/zstd-frame.ts';

t.test('an empty frame equals the one that a node sends', async (t) => {
  t.equal(Buffer.from(wrapInZstdFrame(new Uint8Array(0))).toString('base64'), 'KLUv/SAAAQAA');
});

t.test('the blocks of a frame contain the wrapped bytes', async (t) => {
  for (const size of [1, 255, 256, 131_072, 131_073, 300_000]) {
    const bytes = Uint8Array.from({ length: size }, (_, index) => index * 7);
    t.strictSame(Buffer.compare(unwrapZstdFrame(wrapInZstdFrame(bytes)), bytes), 0, `${size} bytes`);
  }
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => Buffer.compare(unwrapZstdFrame(wrapInZstdFrame(bytes)), bytes) === 0),
  );
});

/** Reads a frame of raw blocks as RFC 8878 describes it. */
function unwrapZstdFrame(frame: Uint8Array): Buffer {
  const view = Buffer.from(frame);
  t.equal(view.readUInt32LE(0), 0xfd2fb528);
  const sizeBytes = view.readUInt8(4) === 0x20 ? 1 : 4;
  const size = view.readUIntLE(5, sizeBytes);
  const blocks: Buffer[] = [];
  for (let at = 5 + sizeBytes, last = false; !last; ) {
    const header = view.readUIntLE(at, 3);
    last = (header & 1) === 1;
    t.equal((header >> 1) & 3, 0, 'a raw block');
    blocks.push(view.subarray(at + 3, at + 3 + (header >> 3)));
    at += 3 + (header >> 3);
    if (last) t.equal(at, view.length, 'nothing follows the last block');
  }
  const whole = Buffer.concat(blocks);
  t.equal(whole.length, size);
  return whole;
}
