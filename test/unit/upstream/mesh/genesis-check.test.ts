import t from 'tap';
import { GenesisCheck } from '../../../../src/upstream/mesh/genesis-check.ts';

t.test('the hash is read once, until the check is invalidated, repeated or has failed', async (t) => {
  let reads = 0;
  let isFailing = false;
  const check = new GenesisCheck(async () => {
    reads++;
    if (isFailing) throw new Error('failed');
    return 'genesis';
  });
  t.strictSame(await Promise.all([check.ensure(), check.ensure()]), ['genesis', 'genesis']);
  t.equal(reads, 1);
  await check.repeat();
  t.equal(reads, 2);
  check.invalidate();
  isFailing = true;
  await t.rejects(check.ensure());
  isFailing = false;
  t.equal(await check.ensure(), 'genesis', 'a failure is not kept');
  t.equal(reads, 4);
});
