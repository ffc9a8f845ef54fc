import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { OwnerRows, packOwnerRows } from '../../../../src/routes/holders/owner-rows.ts';
import { encodeKey } from '../../../../src/solana/codec/base58-key.ts';

/** An owner of which only some bytes differ, those at the start and at the end. */
const ownerOf = (start: number, end: number): Buffer => {
  const key = Buffer.alloc(32, 7);
  key[0] = start;
  key[31] = end;
  return key;
};

function ownersOf(rows: readonly (readonly [Buffer, bigint])[]): OwnerRows {
  const holders = {
    total: rows.length,
    ownerAt: (row: number) => rows[row]?.[0] ?? Buffer.alloc(32),
    amountAt: (row: number) => rows[row]?.[1] ?? 0n,
  };
  return new OwnerRows(packOwnerRows(holders), holders);
}

t.test('owners are added up and ordered', async () => {
  const row = fc.tuple(
    fc.tuple(fc.nat({ max: 3 }), fc.nat({ max: 3 })).map(([start, end]) => ownerOf(start, end)),
    fc.bigInt({ min: 1n, max: 4n }),
  );
  fc.assert(
    fc.property(fc.array(row, { maxLength: 60 }), (rows) => {
      const sums = new Map<string, [sum: bigint, accounts: number]>();
      for (const [owner, amount] of rows) {
        const [sum, accounts] = sums.get(owner.toString('hex')) ?? [0n, 0];
        sums.set(owner.toString('hex'), [sum + amount, accounts + 1]);
      }
      const expected = [...sums]
        .sort(([a, [x]], [b, [y]]) => (x === y ? (a < b ? -1 : 1) : x > y ? -1 : 1))
        .map(([hex, [amount, accounts]]) => ({ owner: encodeKey(Buffer.from(hex, 'hex')), amount, accounts }));
      const owners = ownersOf(rows);
      const listed = Array.from({ length: owners.total }, (_, i) => owners.holdingAt(i));
      return isDeepStrictEqual(listed, expected);
    }),
    { numRuns: 50 },
  );
});

t.test('a node whose accounts hold more than any supply is not believed', async (t) => {
  const most = 2n ** 64n - 1n;
  t.equal(ownersOf([[ownerOf(1, 1), most]]).holdingAt(0).amount, most);
  const twice = [most, 1n].map((amount) => [ownerOf(1, 1), amount] as const);
  t.throws(() => ownersOf(twice), { code: 'upstream_error' });
});
