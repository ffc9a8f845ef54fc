import t from 'tap';
import { BlockListingCache } from '../../../../src/routes/block/block-listing-cache.ts';
import { listBlock } from '../../../../src/routes/block/list-block.ts';
import type { BlockListingRead } from '../../../../src/routing/block-listings.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const EMPTY = listBlock(Buffer.from('{"blockhash":"b","previousBlockhash":"p","parentSlot":1,"transactions":[]}'));

interface ReadOptions {
  readonly ttlMs?: number;
  readonly bytes?: number;
  readonly minSlot?: number;
}

/** Opens a cache; `read` returns how many listings were read by then. */
function open() {
  const clock = new ManualClock();
  const cache = new BlockListingCache(clock);
  let reads = 0;
  const readOf = (bytes: number) => async (): Promise<BlockListingRead> => {
    reads++;
    return { slot: reads, listing: { ...EMPTY, rows: new Uint8Array(bytes) } };
  };
  const read = async (key: string, { ttlMs, bytes = 0, minSlot = 0 }: ReadOptions = {}): Promise<number> => {
    await cache.getOrRead(key, { ttlMs, minSlot }, readOf(bytes));
    return reads;
  };
  return { clock, read };
}

t.test('a listing is read once for all pages; one that may change is read again after its time', async (t) => {
  const { clock, read } = open();
  await Promise.all([read('1'), read('1')]);
  t.equal(await read('1'), 1);
  t.equal(await read('2', { ttlMs: 10 }), 2);
  clock.advance(9);
  t.equal(await read('2', { ttlMs: 10 }), 2);
  clock.advance(1);
  t.equal(await read('2', { ttlMs: 10 }), 3);
  clock.advance(1e9);
  t.equal(await read('1'), 3);
});

t.test('a listing from before a slot that the caller has seen is read again', async (t) => {
  const { read } = open();
  t.equal(await read('1', { ttlMs: 10, minSlot: 1 }), 1);
  t.equal(await read('1', { ttlMs: 10, minSlot: 1 }), 1, 'it is of slot 1');
  t.equal(await read('1', { ttlMs: 10, minSlot: 2 }), 2);
});

t.test('listings take no more than 32 MiB; the least used goes first', async (t) => {
  const { read } = open();
  const bytes = 10 << 20;
  for (const key of ['1', '2', '3', '1', '4']) await read(key, { bytes });
  t.equal(await read('1', { bytes }), 4);
  t.equal(await read('2', { bytes }), 5, 'it had to go for the fourth');
  t.equal(await read('large', { bytes: 40 << 20 }), 6);
  t.equal(await read('large', { bytes: 40 << 20 }), 7, 'too large to be kept');
  t.equal(await read('2', { bytes }), 7, 'and nothing had to go for it');
});
