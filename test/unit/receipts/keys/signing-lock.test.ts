import { existsSync, linkSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { acquireSigningLock } from '../../../../src/receipts/keys/signing-lock.ts';
import { acquireSocketLock } from '../../../../src/runtime/files/socket-lock.ts';
import { waitFor } from '../../../support/harness.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

/** Processes that would sign with one key, as far as that goes, and what they know of each other. */
function signersOf(t: Test) {
  const path = join(t.testdir(), 'key');
  const clock = new ManualClock();
  const alone = new Set<string>();
  const waiting = new Map<string, unknown>();
  const claim = async (name: string, random = 0): Promise<() => void> => {
    const letGo = await acquireSigningLock({
      path,
      clock,
      random: () => random,
      onAcquired: () => alone.add(name),
      onWaiting: (fault) => waiting.set(name, fault),
    });
    t.teardown(letGo);
    return () => {
      alone.delete(name);
      letGo();
    };
  };
  return { path, clock, alone, waiting, claim };
}

t.test('of two that sign with a key the second waits until the first has ended', async (t) => {
  const { path, clock, alone, waiting, claim } = signersOf(t);
  const end = await claim('first');
  t.same([...alone], ['first']);
  await claim('second');
  t.same([...waiting], [['second', undefined]]);
  clock.advance(2000);
  t.same([...alone], ['first'], 'as long as that may take');
  end();
  await waitFor(() => {
    clock.advance(2000);
    return alone.has('second');
  }, 'the second');
  t.equal(waiting.size, 1, 'and was told once');
  t.equal(readdirSync(dirname(path)).length, 1, 'one flag is left');
});

t.test('another key is another matter', async (t) => {
  const { path, alone, claim } = signersOf(t);
  const lower = await acquireSocketLock(`${path}.other`); // its name begins with the same letters
  await claim('first');
  t.same([...alone], ['first']);
  t.ok(lower);
  lower?.();
});

t.test('what a dead process left holds up nobody, and is removed', async (t) => {
  const { path, alone, claim } = signersOf(t);
  const lower = await acquireSocketLock(path);
  const [flag = ''] = readdirSync(dirname(path));
  linkSync(join(dirname(path), flag), `${path}.00000000.up`);
  lower?.();
  t.ok(existsSync(`${path}.00000000.up`), 'it has a name still, but nobody listens');
  await claim('first');
  t.same([...alone], ['first']);
  t.notOk(existsSync(`${path}.00000000.up`));
});

t.test('who has ended while it waited takes nothing', async (t) => {
  const { clock, alone, claim } = signersOf(t);
  const endFirst = await claim('first');
  const endSecond = await claim('second');
  endSecond();
  endFirst();
  clock.advance(10_000);
  await claim('third');
  t.same([...alone], ['third']);
});

t.test('however many look at once, one at most is alone, and one comes to be', async (t) => {
  const { clock, alone, claim } = signersOf(t);
  const names = Array.from({ length: 12 }, (_, n) => `${n}`);
  await Promise.all(names.map((name, n) => claim(name, n / names.length)));
  t.ok(alone.size <= 1, `${alone.size} at first`);
  await waitFor(() => {
    clock.advance(50);
    return alone.size > 0;
  }, 'one of them');
  t.equal(alone.size, 1);
});

t.test('of flags that go up and come down again in any order never two are up alone', async (t) => {
  const path = join(t.testdir(), 'key');
  let alone = 0;
  const worker = async (pace: number): Promise<void> => {
    for (let n = 0; n < 20; n++) {
      for (let turn = 0; turn < (n * pace) % 7; turn++) await setImmediate();
      const lower = await acquireSocketLock(path);
      if (lower === undefined) continue;
      t.equal(++alone, 1);
      await setImmediate();
      alone--;
      lower();
    }
  };
  await Promise.all([1, 2, 3].map(worker));
  t.same(readdirSync(dirname(path)), []);
  const last = await acquireSocketLock(path);
  t.ok(last);
  last?.();
});

t.test('a folder may be as far down as it likes', async (t) => {
  const folder = join(t.testdir(), ...Array(9).fill('x'.repeat(100)));
  mkdirSync(folder, { recursive: true });
  const lower = await acquireSocketLock(join(folder, 'key'));
  t.equal(readdirSync(folder).length, 1);
  t.equal(await acquireSocketLock(join(folder, 'key')), undefined);
  lower?.();
  t.same(readdirSync(folder), []);
});

t.test('where no flag can be raised nobody is alone, and it is told why', async (t) => {
  const folder = t.testdir();
  const faults: unknown[] = [];
  for (const path of [join(folder, 'x'.repeat(110)), join(folder, 'no-folder', 'key')]) {
    const clock = new ManualClock();
    const onAcquired = () => t.fail('not alone');
    t.teardown(
      await acquireSigningLock({ path, clock, random: () => 0, onAcquired, onWaiting: (fault) => faults.push(fault) }),
    );
  }
  t.match(faults, [/too long/, { code: 'EACCES' }]);
});
