import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createGenesis, loadOrCreateGenesis } from '../../../src/localnet/cluster-genesis.ts';

const fresh = (byte: number) => () => createGenesis(new Uint8Array(32).fill(byte), 1_700_000_000_000);

t.test('a folder has one genesis, whichever process asks', async (t) => {
  const folder = join(t.testdir(), 'state', 'deep');
  const first = loadOrCreateGenesis(folder, fresh(1));
  t.equal(first.hash, '4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi');
  t.ok(first.originMs < 1_700_000_000_000, 'slot 0 was long ago');
  t.same(loadOrCreateGenesis(folder, fresh(2)), first);
  t.not(loadOrCreateGenesis(t.testdir(), fresh(2)).hash, first.hash, 'another folder has another');
});

t.test('two clusters that start in one folder at once have the genesis of the faster one', (t) => {
  const folder = t.testdir();
  const slower = loadOrCreateGenesis(folder, () => {
    t.same(loadOrCreateGenesis(folder, fresh(1)), fresh(1)());
    return fresh(2)();
  });
  t.same(slower, fresh(1)());
  t.same(loadOrCreateGenesis(folder, fresh(3)), slower);
  t.same(readdirSync(folder), ['cluster.json']);
  t.end();
});

t.test('a file that is not a genesis is reported and left unchanged', async (t) => {
  for (const text of [
    '',
    'null',
    '{}',
    '{"hash":"abc","originMs":1}',
    '{"hash":1,"originMs":1,"slotMs":400}',
    '{"hash":"4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi","originMs":1,"slotMs":0}',
  ]) {
    const folder = t.testdir();
    const path = join(folder, 'cluster.json');
    writeFileSync(path, text);
    t.throws(() => loadOrCreateGenesis(folder, fresh(1)), { message: /is not a cluster's genesis/ });
    t.equal(readFileSync(path, 'utf8'), text);
  }
});
