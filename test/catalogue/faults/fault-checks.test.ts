import fc from 'fast-check';
import t from 'tap';
import { GENESIS } from '../../support/scripted-node.ts';
import { FormulaChain } from './formula-chain/formula-chain.ts';

const chain = new FormulaChain({ genesis: GENESIS, originMs: 0, slotMs: 400, maxUnchangedSlots: 24 });
const slots = fc.integer({ min: 1_000_000, max: 2_000_000 });
const addresses = fc.base64String({ minLength: 32, maxLength: 32 });

t.test('a balance without a notification has not changed', async () => {
  fc.assert(
    fc.property(addresses, slots, fc.integer({ min: 1, max: 40 }), (address, slot, later) => {
      fc.pre(!chain.isChanged(address, slot, slot + later));
      return chain.lamports(address, slot) === chain.lamports(address, slot + later);
    }),
  );
});

t.test('balances change, and some accounts appear and disappear', async (t) => {
  const balances = Array.from({ length: 1000 }, (_, index) => chain.lamports('some account', 1_000_000 + index));
  t.ok(new Set(balances).size > 20);
  t.ok(balances.includes(0));
});

t.test('a slot is processed from its start to the start of the next', async () => {
  fc.assert(
    fc.property(slots, (slot) => {
      const [start, next] = [chain.startMsOf(slot), chain.startMsOf(slot + 1)];
      return chain.processedSlotAt(start) === slot && chain.processedSlotAt(next - 1) === slot;
    }),
  );
});
