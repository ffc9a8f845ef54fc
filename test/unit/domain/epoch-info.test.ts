import t from 'tap';
import { firstSlotOfEpoch } from '../../../src/domain/epoch-info.ts';

const info = { blockHeight: 0, transactionCount: null, slotsInEpoch: 432_000 };

t.test('the first slot of any epoch follows from the current one', async (t) => {
  const mainnet = { ...info, epoch: 580, slotIndex: 1_234, absoluteSlot: 580 * 432_000 + 1_234 };
  t.same(
    [0, 1, 580, 581].map((epoch) => firstSlotOfEpoch(mainnet, epoch)),
    [0, 432_000, 250_560_000, 250_992_000],
  );
});

t.test('on a cluster that warmed up, the first epochs are shorter', async (t) => {
  // devnet's schedule: firstNormalEpoch 14, firstNormalSlot 524256
  const devnet = { ...info, epoch: 900, slotIndex: 5, absoluteSlot: 524_256 + (900 - 14) * 432_000 + 5 };
  t.same(
    [0, 1, 2, 13, 14, 15].map((epoch) => firstSlotOfEpoch(devnet, epoch)),
    [0, 32, 96, 262_112, 524_256, 956_256],
  );
});
