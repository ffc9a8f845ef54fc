import fc from 'fast-check';
import { Unpackr } from 'msgpackr';
import t from 'tap';
import type { NetworkSnapshot } from '../../../../src/domain/network-snapshot.ts';
import { packFrame } from '../../../../src/http/stream/msgpack-frame.ts';

const unpackr = new Unpackr({ useRecords: false, int64AsType: 'bigint' });
const levels = { min: 0n, low: 1n, medium: 2n, high: 3n, veryHigh: 4n, unsafeMax: 2n ** 64n - 1n };
const snapshot: NetworkSnapshot = {
  slot: 348_000_123,
  blockHeight: null,
  epoch: 805,
  epochProgress: 0.5,
  slotIndex: 1,
  slotsInEpoch: 432_000,
  tps: 1234.5,
  nonVoteTps: 7,
  slotTimeMs: 400.1,
  priorityFee: 2n,
  priorityFeeLevels: levels,
  transactionCount: 2n ** 64n - 1n,
  health: 'ok',
  seq: 0,
  stream: 'abc',
  updatedAt: 1_700_000_000_000,
};

t.test('a MessagePack frame is a plain map with the members of the JSON frame, in their order', async (t) => {
  const { result, slot } = unpackr.unpack(packFrame(snapshot));
  t.equal(slot, snapshot.slot);
  t.same(Object.keys(result), Object.keys(snapshot));
  t.same(result.priorityFeeLevels, { min: 0, low: 1, medium: 2, high: 3, veryHigh: 4, unsafeMax: 2n ** 64n - 1n });
  t.equal(result.tps, 1234.5);
  t.equal(result.blockHeight, null);
});

t.test('every integer is packed as an integer, with every digit', async () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 2n ** 64n - 1n), fc.maxSafeNat(), (priorityFee, updatedAt) => {
      const { result } = unpackr.unpack(packFrame({ ...snapshot, priorityFee, updatedAt }));
      const isWide = (value: unknown, number: bigint) => (typeof value === 'bigint') === number > 0xffff_ffffn;
      return (
        BigInt(result.priorityFee) === priorityFee &&
        BigInt(result.updatedAt) === BigInt(updatedAt) &&
        isWide(result.priorityFee, priorityFee) &&
        isWide(result.updatedAt, BigInt(updatedAt))
      );
    }),
  );
});
