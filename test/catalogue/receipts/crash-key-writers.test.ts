import t from 'tap';
import { crashKeyWriters } from './crash-key-writers.ts';

t.test('kills while keys are created, rotated and revoked lose or change none', async (t) => {
  const done = await crashKeyWriters(t.testdir(), 8, 1); // 200 of them: npm run test:receipts
  t.comment(`${done.folders} folders, ${done.keys} keys, ${done.midway} kills in the middle of a change`);
  t.same(done.faults, []);
  t.equal(done.kills, 8);
  t.ok(done.keys > 8, 'there were keys to lose');
});
