import { existsSync, linkSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { acquireSigningLock } from '../../../../src/receipts/keys/signing-lock.ts';
import { acquireSocketLock } from '../../../../src/runtime/files/socket-lock.ts';
import { waitFor } from '../../../support/harness.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

/** Creates processes that want to sign with one key, and records which of them may. */
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

t.test('of two signers with one key the second waits until the first has ended', async (t) => {
  const { path, clock, alone, waiting, claim } = signersOf(t);
  const end = await claim('first');
  t.same([...alone], ['first']);
  await claim('second');
  t.same([...waiting], [['second', undefined]]);
  clock.advance(2000);
  t.same([...alone], ['first'], 'for any length of time');
  end();
  await waitFor(() => {
    clock.advance(2000);
    return alone.has('second');
  }, 'the second');
  t.equal(waiting.size, 1, 'and it was notified once');
  t.equal(readdirSync(dirname(path)).length, 1, 'one socket is left');
});

t.test('the lock of another key does not matter', async (t) => {
  const { path, alone, claim } = signersOf(t);
  const lower = await acquireSocketLock(`${path}.other`); // its name begins with the same letters
  await claim('first');
  t.same([...alone], ['first']);
  t.ok(lower);
  lower?.();
});

t.test('the socket of a dead process blocks nobody and is removed', async (t) => {
  const { path, alone, claim } = signersOf(t);
  const lower = await acquireSocketLock(path);
  const [flag = ''] = readdirSync(dirname(path));
  linkSync(join(dirname(path), flag), `${path}.00000000.up`);
  lower?.();
  t.ok(existsSync(`${path}.00000000.up`), 'the name still exists, but nobody listens');
  await claim('first');
  t.same([...alone], ['first']);
  t.notOk(existsSync(`${path}.00000000.up`));
});

t.test('a process that ended while it waited gets no lock', async (t) => {
  const { clock, alone, claim } = signersOf(t);
  const endFirst = await claim('first');
  const endSecond = await claim('second');
  endSecond();
  endFirst();
  clock.advance(10_000);
  await claim('third');
  t.same([...alone], ['third']);
});

t.test('of concurrent attempts at most one gets the lock, and one of them eventually does', async (t) => {
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

t.test('in any order of acquiring and releasing two never have the lock', async (t) => {
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

t.test('a folder may be nested as deeply as it likes', async (t) => {
  const folder = join(t.testdir(), ...Array(9).fill('x'.repeat(100)));
  mkdirSync(folder, { recursive: true });
  const lower = await acquireSocketLock(join(folder, 'key'));
  t.equal(readdirSync(folder).length, 1);
  t.equal(await acquireSocketLock(join(folder, 'key')), undefined);
  lower?.();
  t.same(readdirSync(folder), []);
});

t.test('where no socket can be created nobody gets the lock, and the error is reported', async (t) => {
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
