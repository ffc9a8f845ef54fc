import t, { type Test } from 'tap';
import type { GatewayError } from '../../../src/domain/gateway-error.ts';
import { ThreadPool, type ThreadPoolOptions } from '../../../src/runtime/thread-pool.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import type { tasks } from './thread-pool-tasks.ts';

const ALICE = { caller: 'alice' };
const BOB = { caller: 'bob' };

function open(t: Test, options: Partial<ThreadPoolOptions> = {}) {
  const clock = new ManualClock();
  const pool = new ThreadPool<typeof tasks>({
    module: new URL('./thread-pool-tasks.js', import.meta.url),
    clock,
    maxThreads: 1,
    maxHeapMb: 32,
    maxWaiting: 8,
    maxTaskMs: 1000,
    idleMs: 60_000,
    ...options,
  });
  const keepAlive = setInterval(() => {}, 1000); // the threads don't keep the process alive
  t.teardown(() => clearInterval(keepAlive));
  t.teardown(() => pool.close());
  /** Occupies a thread until the returned function is called. */
  const hold = (): (() => void) => {
    const gate = new Int32Array(new SharedArrayBuffer(4));
    pool.run('hold', [gate], ALICE).catch(() => {});
    return () => {
      Atomics.store(gate, 0, 1);
      Atomics.notify(gate, 0);
    };
  };
  const echo = (text: string, owner = ALICE): Promise<string> => pool.run('echo', [text], owner);
  return { clock, pool, hold, echo };
}

const codeOf = (running: Promise<unknown>): Promise<string> =>
  running.then(
    () => 'done',
    ({ code, message }: GatewayError) => `${code}: ${message}`,
  );

t.test('a task gives its result, its refusal or its defect', async (t) => {
  const { pool, echo } = open(t);
  t.equal(await echo('x'), 'x');
  t.equal(await codeOf(pool.run('refuse', [], ALICE)), 'invalid_json: the body is not JSON');
  await t.rejects(pool.run('fail', [], ALICE), { name: 'TypeError', message: 'a defect' });
  t.equal(await echo('y'), 'y', 'in the same thread');
  t.equal(pool.threadCount, 1);
});

t.test('where both want a core, the event loop has more of it', { skip: process.platform !== 'linux' }, async (t) => {
  const { pool } = open(t);
  t.ok((await pool.run('niceness', [], ALICE)) > 0);
});

t.test('a task that takes too long ends with its thread; the next one gets another', async (t) => {
  const { clock, pool, echo } = open(t);
  await echo('the thread has started');
  const endless = codeOf(pool.run('loopForever', [], ALICE));
  const next = echo('next');
  clock.advance(1000);
  t.equal(await endless, 'overloaded: the work took longer than 1000 ms; retry in a moment');
  t.equal(await next, 'next');
});

t.test('a task that takes too much memory ends with its thread', async (t) => {
  const { pool, echo } = open(t);
  await t.rejects(pool.run('exhaustMemory', [], ALICE), { code: 'ERR_WORKER_OUT_OF_MEMORY' });
  t.equal(await echo('next'), 'next');
});

t.test('callers take turns, each waits with a quarter of all at most', async (t) => {
  const { hold, echo } = open(t);
  const release = hold();
  const order: string[] = [];
  const all = ['a1', 'a2', 'b1', 'b2'].map(async (text) => {
    order.push(await echo(text, text.startsWith('a') ? ALICE : BOB));
  });
  t.match(await codeOf(echo('a3')), /^overloaded: too many of your requests/);
  all.push(...['c', 'd', 'e', 'f'].map(async (caller) => void (await echo(caller, { caller }))));
  t.match(await codeOf(echo('g', { caller: 'g' })), /^overloaded: too many requests wait/);
  release();
  await Promise.all(all);
  t.strictSame(order, ['a1', 'b1', 'a2', 'b2']);
});

t.test('whoever has gone leaves the line, and has the thread only a moment longer', async (t) => {
  const { clock, pool, echo } = open(t);
  await echo('the thread has started');
  const [first, second] = [new AbortController(), new AbortController()];
  const running = codeOf(pool.run('loopForever', [], { caller: 'a', signal: first.signal }));
  const waiting = codeOf(pool.run('echo', [''], { caller: 'a', signal: second.signal }));
  second.abort();
  t.match(await waiting, /^overloaded/);
  const next = echo('next');
  first.abort();
  clock.advance(100);
  t.match(await running, /^overloaded/);
  t.equal(await next, 'next');
  t.match(await codeOf(pool.run('echo', [''], { caller: 'a', signal: first.signal })), /^overloaded/, 'gone before');
});

t.test('a thread ends when it is idle, and all end with the pool, whatever they do', async (t) => {
  const { clock, pool, echo } = open(t, { maxThreads: 2 });
  t.strictSame(await Promise.all([echo('x'), echo('y')]), ['x', 'y']);
  t.equal(pool.threadCount, 2);
  clock.advance(60_000);
  t.equal(pool.threadCount, 0);

  await echo('another thread');
  const ends = [codeOf(pool.run('loopForever', [], ALICE)), codeOf(pool.run('loopForever', [], ALICE))];
  const waits = codeOf(echo('never'));
  await pool.close();
  for (const end of [...ends, waits]) t.match(await end, /^shutting_down/);
  t.match(await codeOf(echo('late')), /^shutting_down/);
});
