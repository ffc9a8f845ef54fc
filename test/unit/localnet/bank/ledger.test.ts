import fc from 'fast-check';
import t from 'tap';
import { Ledger } from '../../../../src/localnet/bank/ledger.ts';
import type { Block, LandedTransaction } from '../../../../src/localnet/bank/produced-block.ts';

const block = (slot: number, transactions: readonly (readonly string[])[]): Block => ({
  slot,
  parentSlot: slot - 1,
  hash: `hash ${slot}`,
  parentHash: `hash ${slot - 1}`,
  height: slot,
  blockTime: slot,
  // The ledger reads no other members of a transaction.
  transactions: transactions.map(
    (accountKeys, index) => ({ slot, index, signature: `${slot}.${index}`, accountKeys }) as LandedTransaction,
  ),
  transactionCount: 0,
  changedAccounts: new Set(),
});

const LIMITS = { maxBlocks: 5, maxTransactions: 8 };
const ADDRESSES = ['a', 'b', 'c'];
const keys = fc.subarray(ADDRESSES, { minLength: 1 });
const steps = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ gap: fc.integer({ min: 1, max: 3 }), transactions: fc.array(keys, { maxLength: 4 }) }),
    },
    { weight: 1, arbitrary: fc.record({ depth: fc.nat(3) }) },
  ),
  { maxLength: 40 },
);

t.test('a ledger finds the blocks it keeps, and none that was dropped at either end', async () => {
  fc.assert(
    fc.property(steps, (script) => {
      const ledger = new Ledger(LIMITS);
      let model: Block[] = [];
      let next = 1;
      for (const step of script) {
        if ('gap' in step) {
          next += step.gap;
          const added = block(next, step.transactions);
          ledger.add(added);
          model.push(added);
          ledger.trim(next);
          const count = () => model.reduce((sum, { transactions }) => sum + transactions.length, 0);
          while (model.length > 1 && (model.length > LIMITS.maxBlocks || count() > LIMITS.maxTransactions))
            model.shift();
        } else {
          const top = model.at(-1 - step.depth)?.slot ?? next;
          const dropped = model.filter(({ slot }) => slot > top);
          const removed = String(ledger.truncate(top).map(({ slot }) => slot));
          if (removed !== String(dropped.map(({ slot }) => slot).reverse())) return false;
          model = model.filter(({ slot }) => slot <= top);
        }
        const kept = model.flatMap(({ transactions }) => transactions);
        const found = ADDRESSES.map((address) => ledger.transactionsOf(address));
        const wanted = ADDRESSES.map((address) => kept.filter(({ accountKeys }) => accountKeys.includes(address)));
        if (JSON.stringify(found) !== JSON.stringify(wanted)) return false;
        for (let slot = 0; slot <= next; slot++) {
          const expected = model.find((block) => block.slot === slot);
          if (ledger.block(slot) !== expected) return false;
          for (let index = 0; index < 4; index++) {
            if (ledger.transaction(`${slot}.${index}`) !== expected?.transactions[index]) return false;
          }
        }
        if (ledger.oldestBlock !== model[0] || ledger.newestBlock !== model.at(-1)) return false;
      }
      return true;
    }),
    { numRuns: 300 },
  );
});

t.test('blocks that a fork may still abandon are kept beyond the limits', async (t) => {
  const ledger = new Ledger(LIMITS);
  for (let slot = 1; slot <= 20; slot++) ledger.add(block(slot, []));
  ledger.trim(10);
  t.equal(ledger.oldestBlock?.slot, 10);
  t.same(
    ledger.blocksBetween(11, 14).map(({ slot }) => slot),
    [12, 13, 14],
  );
  t.same(
    ledger.newestBlocks(2).map(({ slot }) => slot),
    [20, 19],
  );
});
