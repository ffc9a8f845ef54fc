import t from 'tap';
import { GatewayError } from '../../../../src/domain/gateway-error.ts';
import { RequestCost } from '../../../../src/domain/request-cost.ts';
import { HolderTableCache } from '../../../../src/routes/holders/holder-table-cache.ts';
import { ScanGate } from '../../../../src/routes/scans/scan-gate.ts';
import type { HolderTable, HolderTabler } from '../../../../src/routing/holder-tables.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const TABLE: HolderTable = {
  slot: 1,
  total: 0,
  bytes: 0,
  rows: () => [],
  owners: () => Promise.resolve({ total: 0, rows: () => [] }),
};
/** Makes no table: the scans of these tests return one. */
const TABLER: HolderTabler = {
  packHolders: () => Promise.reject(new Error('no lists')),
  packOwners: () => Promise.reject(new Error('no holders')),
};

const settle = (): Promise<void> => new Promise(setImmediate);

/** Opens a cache whose scans begin in `begun` and end when a test calls `end`. */
function open() {
  const clock = new ManualClock();
  const cache = new HolderTableCache(clock, new ScanGate(clock), TABLER);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const outcomes: string[] = [];
  const read = (caller: string, mint: string): void => {
    const scan = (): Promise<HolderTable> => {
      begun.push(mint);
      return new Promise((resolve) => ends.set(mint, () => resolve(TABLE)));
    };
    cache.getOrRead({ mint, minSlot: 0 }, scan, new RequestCost(caller, false)).then(
      () => outcomes.push(`${mint} done`),
      ({ code }) => outcomes.push(`${mint} ${code}`),
    );
  };
  const end = async (mint: string): Promise<void> => {
    ends.get(mint)?.();
    await settle();
  };
  return { clock, cache, begun, outcomes, read, end };
}

t.test('one scan at a time for a caller, and two in all; others wait for their turn', async (t) => {
  const { begun, outcomes, read, end } = open();
  read('a', 'a1');
  read('a', 'a2');
  read('b', 'b1');
  read('c', 'c1');
  await settle();
  t.same(begun, ['a1', 'b1']);
  await end('b1');
  t.same(begun, ['a1', 'b1', 'c1'], 'who has a scan under way is passed over');
  await end('a1');
  t.same(begun, ['a1', 'b1', 'c1', 'a2']);
  read('d', 'a2');
  await end('a2');
  await end('c1');
  t.same(outcomes, ['b1 done', 'a1 done', 'a2 done', 'a2 done', 'c1 done'], 'equal scans are one');
});

t.test('who would wait too long is told so', async (t) => {
  const { clock, begun, outcomes, read } = open();
  for (let i = 1; i <= 4; i++) read('a', `a${i}`);
  await settle();
  t.same([begun, outcomes], [['a1'], ['a4 overloaded']]);
  clock.advance(10_000);
  await settle();
  t.same(outcomes.slice(1), ['a2 overloaded', 'a3 overloaded']);
});

t.test('a table that is older than a caller has seen is read again', async (t) => {
  const { cache } = open();
  let slot = 0;
  const read = async (minSlot: number): Promise<number> => {
    const scan = async (): Promise<HolderTable> => ({ ...TABLE, slot: ++slot });
    return (await cache.getOrRead({ mint: 'm', minSlot }, scan)).slot;
  };
  t.same([await read(0), await read(1), await read(2), await read(1)], [1, 1, 2, 2]);
  t.same([cache.get('m')?.slot, cache.get('m', 3)], [2, undefined]);
});

t.test('a refusal is remembered for minutes; a failure that may pass is not', async (t) => {
  const { clock, cache } = open();
  let reads = 0;
  const failing = (error: GatewayError) => (): Promise<HolderTable> => {
    reads++;
    return Promise.reject(error);
  };
  const tooLarge = failing(new GatewayError('result_too_large', 'too large'));
  for (let i = 0; i < 3; i++)
    await t.rejects(cache.getOrRead({ mint: 'm', minSlot: 0 }, tooLarge), { code: 'result_too_large' });
  t.equal(reads, 1);
  clock.advance(5 * 60_000);
  await t.rejects(cache.getOrRead({ mint: 'm', minSlot: 0 }, tooLarge));
  t.equal(reads, 2);
  const late = failing(new GatewayError('upstream_timeout', 'late'));
  for (let i = 0; i < 2; i++) await t.rejects(cache.getOrRead({ mint: 'n', minSlot: 0 }, late));
  t.equal(reads, 4);
});
