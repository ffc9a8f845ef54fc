import t from 'tap';
import { fieldNames, fieldText, rateOf } from '../../../../src/page/widget/fields.ts';
import type { Snapshot } from '../../../../src/page/widget/snapshot.ts';

const numbers = new Intl.NumberFormat('en');
const snapshot: Snapshot = {
  slot: 348_000_123,
  blockHeight: 326_000_001,
  epoch: 805,
  epochProgress: 0.6249,
  tps: 3911.2,
  nonVoteTps: null,
  slotTimeMs: 401.6,
  priorityFee: 5000,
  health: 'ok',
  seq: 1,
  stream: 'a',
};

t.test('fields are those that are known, each once; without any, four', async (t) => {
  t.same(fieldNames('epoch, slot slot constructor nothing'), ['epoch', 'slot']);
  for (const text of [null, '', 'toString']) t.same(fieldNames(text), ['slot', 'tps', 'slot-time', 'epoch']);
});

t.test('each field has its text, and a dash for what is not known', async (t) => {
  const names = ['slot', 'height', 'tps', 'total-tps', 'slot-time', 'fee', 'epoch'];
  t.same(
    names.map((name) => fieldText(name, snapshot, false, numbers)),
    ['348,000,123', '326,000,001', '–', '3,911', '402 ms', '5,000 µLam/CU', '805 · 62 %'],
  );
  t.same(
    names.map((name) => fieldText(name, snapshot, true, numbers)),
    ['348,000,123', '326,000,001', '–', '–', '402 ms', '–', '805 · 62 %'],
    'what moves fast is not shown when it is old',
  );
  t.equal(fieldText('slot', undefined, false, numbers), '–');
});

t.test('the first rate among the fields is the one to draw', async (t) => {
  t.equal(rateOf(['slot', 'total-tps', 'tps']), 'tps');
  t.equal(rateOf(['slot', 'tps']), 'nonVoteTps');
  t.equal(rateOf(['slot', 'epoch']), undefined);
});
