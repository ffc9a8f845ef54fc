import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t, { type Test } from 'tap';
import { WebSocket, WebSocketServer } from 'ws';
import type { Clock } from '../../../src/shared/domain/clock.ts';
import type { GatewayError } from '../../../src/shared/domain/gateway-error.ts';
import { Alert } from '../../../src/shared/runtime/alert.ts';
import { DisposalStack } from '../../../src/shared/runtime/disposal-stack.ts';
import { DurableWrites } from '../../../src/shared/runtime/durable-writes.ts';
import { hostIdentity } from '../../../src/shared/runtime/files/host-identity.ts';
import { acquirePidLock } from '../../../src/shared/runtime/files/pid-lock.ts';
import { replaceFile } from '../../../src/shared/runtime/files/replace-file.ts';
import { acquireSocketLock } from '../../../src/shared/runtime/files/socket-lock.ts';
import { oncePerErrorSite } from '../../../src/shared/runtime/log.ts';
import { makeRoom } from '../../../src/shared/runtime/make-room.ts';
import { maxConnectionsOf } from '../../../src/shared/runtime/max-open-files.ts';
import { readInTurns } from '../../../src/shared/runtime/read-in-turns.ts';
import { repeat } from '../../../src/shared/runtime/repeat.ts';
import { parseRetryAfterMs } from '../../../src/shared/runtime/retry-after.ts';
import { SilenceWatchdog } from '../../../src/shared/runtime/silence-watchdog.ts';
import { ThreadPool, type ThreadPoolOptions } from '../../../src/shared/runtime/thread-pool.ts';
import { TurnBudget, type WorkOwner } from '../../../src/shared/runtime/turn-budget.ts';
import { WorkPerTurn } from '../../../src/shared/runtime/work-per-turn.ts';
import { WorkUnderWay } from '../../../src/shared/runtime/work-under-way.ts';
import { type ChildProgram, runModule } from '../../support/child-process.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { pluck } from '../../support/pluck.ts';
import type { tasks } from '../../support/thread-pool-tasks.ts';

t.test('alert', async (t) => {
  function setUp() {
    const reports: string[] = [];
    const alert = new Alert({ onFiring: (reason) => reports.push(reason), onResolved: () => reports.push('over') });
    const check = (...reasons: (string | undefined)[]): string[] => {
      for (const reason of reasons) alert.check(reason);
      return reports.splice(0);
    };
    return { alert, check, reports };
  }

  t.test('a problem is reported once, after two checks in a row, and its end after three', async (t) => {
    const { check } = setUp();
    t.same(check(undefined, 'down', undefined, 'down', undefined), [], 'what comes and goes');
    t.same(check('down', 'refused'), ['refused']);
    t.same(check('refused', undefined, undefined, 'down', undefined, undefined), []);
    t.same(check(undefined), ['over']);
    t.same(check(undefined, 'down'), []);
    t.same(check('down'), ['down']);
  });

  t.test('a certain problem is reported immediately, and again only when another takes its place', async (t) => {
    const { alert, check, reports } = setUp();
    alert.fire('refused');
    alert.fire('refused');
    t.same(reports.splice(0), ['refused']);
    alert.escalate('another cluster');
    t.same(reports.splice(0), ['another cluster']);
    t.same(check('another cluster', undefined, undefined, undefined), ['over']);
  });
});

t.test('disposal-stack', async (t) => {
  t.test('resources are closed in reverse order, each before the next', async (t) => {
    const opened = new DisposalStack();
    const events: string[] = [];
    for (const name of ['first', 'second', 'third']) {
      opened.defer(async () => {
        events.push(`${name} closes`);
        await new Promise(setImmediate);
        events.push(`${name} is closed`);
      });
    }
    await opened.disposeAsync();
    t.same(events, [
      'third closes',
      'third is closed',
      'second closes',
      'second is closed',
      'first closes',
      'first is closed',
    ]);
  });

  t.test('a second call closes nothing again, and ends with the first', async (t) => {
    const opened = new DisposalStack();
    let count = 0;
    let end = (): void => {};
    opened.defer(() => {
      count++;
      return new Promise<void>((resolve) => {
        end = resolve;
      });
    });
    const done: number[] = [];
    const calls = [1, 2].map(async (call) => {
      await opened.disposeAsync();
      done.push(call);
    });
    await new Promise(setImmediate);
    t.same(done, [], 'both wait');
    end();
    await Promise.all(calls);
    await opened.disposeAsync();
    t.same(done, [1, 2]);
    t.equal(count, 1);
  });

  t.test('a failure leaves nothing else open, and the first error is thrown', async (t) => {
    const opened = new DisposalStack();
    let closed = 0;
    const failing = (fault: string) => () => {
      closed++;
      throw new Error(fault);
    };
    opened.defer(() => {
      closed++;
    });
    opened.defer(failing('the later'));
    opened.defer(failing('the first'));
    await t.rejects(opened.disposeAsync(), { message: 'the first' });
    t.equal(closed, 3);
  });
});

t.test('durable-writes', async (t) => {
  function writesOf() {
    const clock = new ManualClock();
    const logged: string[] = [];
    const log = (message: string) => logged.push(message);
    return { clock, logged, writes: new DurableWrites({ clock, onProblem: log, onRecovery: log }) };
  }

  const failing = (): void => {
    throw Object.assign(new Error("ENOSPC: no space left on device, open '/home/op/usage'"), { code: 'ENOSPC' });
  };

  /** Anybody may read it, so it names no path. */
  const PROBLEM = "usage can't be written, and is kept in memory until it can: ENOSPC";
  const LOGGED = `${PROBLEM}: no space left on device, open '/home/op/usage'`;

  t.test('a kind is a problem from its second failure to its next success, and is logged once', async (t) => {
    const { logged, writes } = writesOf();
    t.notOk(writes.attempt('usage', failing));
    t.same(writes.problems(), [], 'another process may hold the lock');
    writes.attempt('usage', failing);
    t.same(writes.problems(), [PROBLEM]);
    t.ok(writes.attempt('keys', () => {}));
    t.same(writes.problems(), [PROBLEM]);
    t.ok(writes.attempt('usage', () => {}));
    t.same(writes.problems(), []);
    t.same(logged, [LOGGED, 'usage can be written again, and nothing of it is lost']);
  });

  t.test('what is kept is written each second until it works, the latest of its kind alone', async (t) => {
    const { clock, writes } = writesOf();
    const written: string[] = [];
    let isFull = true;
    const keep = (kind: string, text: string): void =>
      writes.keep(kind, () => {
        if (isFull) failing();
        written.push(text);
      });
    keep('usage', 'first');
    keep('usage', 'second');
    keep('keys', 'third');
    clock.advance(3000);
    t.same(writes.problems(), [PROBLEM, PROBLEM.replace('usage', 'keys')]);
    isFull = false;
    clock.advance(1000);
    t.same([written, writes.problems()], [['second', 'third'], []]);
    clock.advance(5000);
    t.equal(written.length, 2, 'once each');
    isFull = true;
    keep('keys', 'fourth');
    let parts = 0;
    writes.keep('history', () => ++parts < 3);
    const turns = async (): Promise<void> => {
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    };
    t.equal(parts, 1);
    await turns();
    t.equal(parts, 3, 'each part in a turn of its own');
    writes.keep('history', () => ++parts < 10);
    writes.close();
    isFull = false;
    clock.advance(5000);
    await turns();
    t.same([written.length, parts], [2, 4], 'nothing after the end');
  });
});

t.test('state-files', async (t) => {
  const isRoot = process.geteuid?.() === 0;

  t.test('a file that is replaced keeps its mode, and its owner too when root replaces it', async (t) => {
    const path = join(t.testdir({ file: 'old' }), 'file');
    chmodSync(path, 0o640);
    if (isRoot) chownSync(path, 1234, 2345);
    const { uid, gid } = statSync(path);
    replaceFile(path, 'new');
    const after = statSync(path);
    t.same([after.mode & 0o777, after.uid, after.gid, readFileSync(path, 'utf8')], [0o640, uid, gid, 'new']);
  });

  t.test('a new file is for its owner alone: that of the folder, if root makes it', async (t) => {
    const folder = t.testdir();
    if (isRoot) chownSync(folder, 1234, 2345);
    replaceFile(join(folder, 'file'), 'new');
    const { mode, uid } = statSync(join(folder, 'file'));
    t.same([mode & 0o777, uid], [0o600, statSync(folder).uid]);
  });

  t.test('git ignores a folder that is made, and only that', async (t) => {
    const folder = t.testdir();
    replaceFile(join(folder, 'state', 'keys', 'file'), 'new');
    t.equal(readFileSync(join(folder, 'state', '.gitignore'), 'utf8'), '*\n');
    t.same(readdirSync(folder), ['state']);
  });

  const NOBODY = 2 ** 22 - 1; // above the process ids that are given out first

  t.test('the lock of a process that has ended is acquired, and one that cannot be checked is not', async (t) => {
    const path = join(t.testdir(), 'file');
    const { machine, boot, processes } = hostIdentity();
    const isAcquired = (owner: string): boolean => {
      writeFileSync(`${path}.lock`, owner);
      const lock = acquirePidLock(path);
      if (typeof lock === 'function') lock();
      else t.equal(lock, NOBODY);
      return typeof lock === 'function';
    };
    t.ok(isAcquired(`${NOBODY} ${machine} ${boot} ${processes} 0`), 'here');
    t.ok(isAcquired(`${NOBODY} ${machine} 000000 ${processes} 0`), 'before this machine was started again');
    t.notOk(isAcquired(`${NOBODY} ${machine} ${boot} 000000 0`), 'in another container');
    t.notOk(isAcquired(`${NOBODY} 000000 000000 ${processes} 0`), 'on another machine');
  });

  t.test('the socket of another machine is left in place, and counts as held', async (t) => {
    const folder = t.testdir();
    const path = join(folder, 'key');
    const { machine } = hostIdentity();
    writeFileSync(`${path}.${machine}000000abcdef01.up`, '');
    const release = await acquireSocketLock(path);
    t.equal(typeof release, 'function', 'this machine has been started again since');
    release?.();
    const foreign = `${path}.000000000000abcdef01.up`;
    writeFileSync(foreign, '');
    t.equal(await acquireSocketLock(path), undefined);
    t.ok(existsSync(foreign));
  });
});

t.test('log-once', async (t) => {
  const one = (): Error => new TypeError('one');
  const two = (): Error => new TypeError('two');

  t.test('an error is reported once per site, however often it occurs', async (t) => {
    const reported: string[] = [];
    const report = oncePerErrorSite<string>((subject) => reported.push(subject));
    for (let i = 0; i < 5; i++) {
      report(`one ${i}`, one());
      report(`two ${i}`, two());
      report(`text ${i}`, 'no error at all');
    }
    t.strictSame(reported, ['one 0', 'two 0', 'text 0']);
  });

  t.test('the number of reported sites is limited', async (t) => {
    let reported = 0;
    const report = oncePerErrorSite<number>(() => reported++);
    for (let i = 0; i < 1000; i++) {
      const defect = new Error('x');
      defect.name = `kind ${i}`;
      report(i, defect);
    }
    t.equal(reported, 100);
  });
});

t.test('log', async (t) => {
  function startLogging(t: Test): ChildProgram {
    const child = runModule(new URL('../../support/log-and-exit.js', import.meta.url), []);
    t.teardown(() => void child.process.kill('SIGKILL'));
    return child;
  }

  t.test('the last line before an exit is written', async (t) => {
    const child = startLogging(t);
    child.process.stdin?.end();
    t.equal(await child.exit(), 0);
    t.match(child.stdout(), /"the last line"/);
  });

  t.test('a process ends though nobody reads its log any more', async (t) => {
    const child = startLogging(t);
    child.process.stdout?.destroy();
    const ended = once(child.process, 'exit');
    child.process.stdin?.end();
    t.strictSame(await ended, [0, null]);
  });

  t.test('an error that a node or a disk causes is one message, a defect has its stack', async (t) => {
    const child = startLogging(t);
    child.process.stdin?.end();
    await child.exit();
    const [node, disk, defect] = child
      .stdout()
      .split('\n', 3)
      .map((line) => JSON.parse(line).err);
    t.equal(node, 'node-1: timeout');
    t.equal(disk, 'ENOSPC: no space left');
    t.match(defect, { type: 'TypeError', message: 'x is undefined', stack: /log-and-exit/ });
  });
});

t.test('make-room', async (t) => {
  const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

  /** A server for four connections. `/` is answered; other requests wait until the server is closed. */
  async function open(t: Test) {
    const server = createServer((request, response) => {
      if (request.url === '/') response.end('ok');
    });
    const clock = new ManualClock();
    const leave = makeRoom(server, 4, clock);
    server.on('upgrade', ({ socket }) => {
      leave(socket);
      socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const sockets: Socket[] = [];
    t.teardown(() => {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      server.close();
    });
    const dial = async (): Promise<Socket> => {
      const socket = connect(port, '127.0.0.1').on('error', () => {});
      sockets.push(socket);
      await Promise.all([once(socket, 'connect'), once(server, 'connection')]);
      return socket;
    };
    const send = async (socket: Socket, text = GET): Promise<string> => {
      socket.write(text);
      const [bytes] = await once(socket, 'data');
      return String(bytes).slice(9, 12);
    };
    const closed = (socket: Socket): Promise<unknown> => (socket.closed ? Promise.resolve() : once(socket, 'close'));
    return { server, clock, dial, send, closed };
  }

  t.test('beyond the bound the connection that has waited longest for a request makes room', async (t) => {
    const { clock, dial, send, closed } = await open(t);
    const [first, second, third] = [await dial(), await dial(), await dial()];
    clock.advance(1000);
    t.equal(await send(first), '200', 'it waits for the next request from now on');
    const [fourth, fifth] = [await dial(), await dial()];
    clock.advance(200);
    await closed(second);
    const sixth = await dial();
    clock.advance(200);
    await closed(third);
    for (const socket of [first, fourth, fifth, sixth]) t.equal(await send(socket), '200', 'the others are served');
  });

  t.test('a peer that waits for an answer goes first only where none waits for a request', async (t) => {
    const { server, clock, dial, closed } = await open(t);
    const slow: Socket[] = [];
    for (let i = 0; i < 4; i++) {
      const socket = await dial();
      socket.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
      await once(server, 'request');
      slow.push(socket);
    }
    const idle = await dial();
    clock.advance(200);
    await closed(idle);
    t.same(pluck(slow, 'closed'), [false, false, false, false]);
    const [oldest] = slow;
    const next = await dial();
    next.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(server, 'request');
    clock.advance(200);
    if (oldest !== undefined) await closed(oldest);
    t.equal(next.closed, false);
  });

  t.test('a new connection keeps its place for a moment, however many come behind it', async (t) => {
    const { clock, dial, send, closed } = await open(t);
    const caller = await dial();
    const crowd: Socket[] = [];
    for (let i = 0; i < 50; i++) crowd.push(await dial());
    clock.advance(199);
    t.equal(await send(caller), '200');
    clock.advance(1);
    await Promise.all(crowd.slice(0, 46).map(closed));
    t.equal(await send(caller), '200', 'it came back behind them');
    t.equal(crowd.slice(47).filter(({ closed }) => closed).length, 0);
  });

  t.test('WebSockets stay, and take no room', async (t) => {
    const { clock, dial, send } = await open(t);
    const upgrade = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
    const sockets: Socket[] = [];
    for (let i = 0; i < 6; i++) {
      const socket = await dial();
      t.equal(await send(socket, upgrade), '101');
      sockets.push(socket);
    }
    for (let i = 0; i < 4; i++) t.equal(await send(await dial()), '200');
    clock.advance(1000);
    await new Promise(setImmediate);
    t.equal(sockets.filter(({ closed }) => closed).length, 0);
  });
});

t.test('max-open-files', async (t) => {
  t.test('the process keeps 128 of its files for itself, and callers get half of them at least', async (t) => {
    for (const [files, connections] of [
      [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
      [1024, 896],
      [256, 128],
      [255, 127],
      [128, 64],
      [64, 32],
    ] as const)
      t.equal(maxConnectionsOf(files), connections, `of ${files}`);
    t.equal(maxConnectionsOf(undefined), Number.POSITIVE_INFINITY, 'where the system names no limit');
  });
});

t.test('read-in-turns', async (t) => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const socket = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  t.teardown(() => {
    socket.terminate();
    server.close();
  });
  const [[{ _socket: peer }]] = await Promise.all([once(server, 'connection'), once(socket, 'open')]);
  const FLOOD = 2 << 20;
  let [pongs, pongsOfTurn, most] = [0, 0, 0];
  readInTurns(socket);
  socket.on('pong', () => {
    pongs++;
    if (++pongsOfTurn === 1)
      setImmediate(() => {
        most = Math.max(most, pongsOfTurn);
        pongsOfTurn = 0;
      });
  });
  socket.pause(); // so that the kernel has much to read when it goes on
  peer.write(Buffer.alloc(FLOOD * 2, Buffer.from([0x8a, 0])));
  await new Promise((resolve) => setTimeout(resolve, 100));
  socket.resume();
  while (pongs < FLOOD) await new Promise(setImmediate);
  t.ok(most <= 2 * (65_536 / 2), `${most} in one turn: Node reads 64 KiB at a time`);
});

t.test('repeat', async (t) => {
  t.test('work is repeated at the interval until it is stopped', async (t) => {
    const clock = new ManualClock(0);
    const times: number[] = [];
    const stop = repeat(clock, 100, () => times.push(clock.monotonic()), 0);
    clock.advance(250);
    stop();
    clock.advance(1000);
    t.strictSame(times, [0, 100, 200]);
  });

  t.test('the interval starts when the work before has ended, even in a rejection', async (t) => {
    const clock = new ManualClock(0);
    const pending: ((error?: Error) => void)[] = [];
    const stop = repeat(clock, 100, () => {
      return new Promise<void>((resolve, reject) => {
        pending.push((error) => (error === undefined ? resolve() : reject(error)));
      });
    });
    clock.advance(1000);
    t.equal(pending.length, 1, 'the first work is still running');
    pending[0]?.(new Error('failed'));
    await new Promise(setImmediate);
    clock.advance(99);
    t.equal(pending.length, 1);
    clock.advance(1);
    t.equal(pending.length, 2);
    stop();
    pending[1]?.();
    await new Promise(setImmediate);
    clock.advance(1000);
    t.equal(pending.length, 2, 'stopped while it ran');
  });
});

t.test('retry-after', async (t) => {
  const NOW = Date.UTC(2026, 0, 1);

  t.test('Retry-After is seconds or a date; anything else is none', async (t) => {
    t.equal(parseRetryAfterMs('7', NOW), 7000);
    t.equal(parseRetryAfterMs(' 7 ', NOW), 7000);
    t.equal(parseRetryAfterMs('Thu, 01 Jan 2026 00:00:09 GMT', NOW), 9000);
    t.equal(parseRetryAfterMs('Wed, 31 Dec 2025 00:00:00 GMT', NOW), 0);
    for (const header of [null, '', 'soon', '-1s']) t.equal(parseRetryAfterMs(header, NOW), null, String(header));
  });
});

t.test('silence-watchdog', async (t) => {
  function setUp() {
    const clock = new ManualClock(0);
    const silences: number[] = [];
    const watchdog = new SilenceWatchdog({ clock, silenceMs: 100, onSilence: () => silences.push(clock.monotonic()) });
    return { clock, silences, watchdog };
  }

  t.test('silence is reported once, measured from the last message', async (t) => {
    const { clock, silences, watchdog } = setUp();
    clock.advance(1000);
    t.strictSame(silences, [], 'nothing counts before the start');
    watchdog.start();
    clock.advance(60);
    watchdog.onMessage();
    clock.advance(60);
    watchdog.onMessage();
    clock.advance(1000);
    t.strictSame(silences, [1220]);
  });

  t.test('behind a stall of the process, messages that have arrived count before silence is reported', async (t) => {
    let [ms, silences] = [0, 0];
    let timer = (): void => {};
    const waits: number[] = [];
    const clock: Clock = {
      now: () => ms,
      monotonic: () => ms,
      after(waitMs, work) {
        waits.push(waitMs);
        timer = work;
        return () => {};
      },
    };
    const fireAt = (atMs: number): void => {
      ms = atMs;
      timer();
    };
    const watchdog = new SilenceWatchdog({ clock, silenceMs: 1000, onSilence: () => silences++ });
    watchdog.start();
    fireAt(3000);
    watchdog.onMessage();
    fireAt(3100);
    t.strictSame([silences, waits], [0, [1000, 100, 900]]);
    fireAt(6000);
    fireAt(8000);
    t.strictSame([silences, waits.length], [1, 4], 'where nothing has arrived, it looks twice, however late');
  });

  t.test('a pause is no silence', async (t) => {
    const { clock, silences, watchdog } = setUp();
    watchdog.start();
    watchdog.setPaused(true);
    clock.advance(1000);
    watchdog.setPaused(false);
    clock.advance(99);
    t.strictSame(silences, []);
    clock.advance(101);
    t.equal(silences.length, 1);
  });

  t.test('a stopped watchdog reports nothing', async (t) => {
    const { clock, silences, watchdog } = setUp();
    watchdog.start();
    watchdog.stop();
    clock.advance(1000);
    t.strictSame(silences, []);
  });
});

t.test('thread-pool', async (t) => {
  const ALICE = { caller: 'alice' };
  const BOB = { caller: 'bob' };

  function open(t: Test, options: Partial<ThreadPoolOptions> = {}) {
    const clock = new ManualClock();
    const pool = new ThreadPool<typeof tasks>({
      module: new URL('../../support/thread-pool-tasks.js', import.meta.url),
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
});

t.test('turn-budget', async (t) => {
  /** A budget of 4 ms over a clock that only work moves, whose turns end when the test says so. */
  function open(bounds: { readonly items?: number; readonly bytes?: number } = {}) {
    let nowMs = 0;
    let end: (() => void) | undefined;
    const begun: string[] = [];
    const budget = new TurnBudget({
      turnMs: 4,
      queue: { items: 64, bytes: 1600, waiting: 'wait to be parsed', ...bounds },
      clock: { monotonic: () => nowMs },
      atEndOfTurn(callback) {
        end = callback;
      },
    });
    /** Sends work that takes `ms` milliseconds. */
    const send = (name: string, ms: number, owner: Partial<WorkOwner> = {}): Promise<string> =>
      budget.run({ caller: 'alice', bytes: 1, ...owner }, () => {
        begun.push(name);
        nowMs += ms;
        return name;
      });
    /** Ends a turn; returns what has begun since the last end, before it and then. */
    const endTurn = async (): Promise<readonly string[]> => {
      const callback = end;
      end = undefined;
      callback?.();
      await new Promise(setImmediate);
      return begun.splice(0);
    };
    return { budget, begun, send, endTurn, isTurnOpen: () => end !== undefined };
  }

  const codeOf = (running: Promise<unknown>): Promise<string> =>
    running.then(
      () => 'done',
      ({ code, message }: GatewayError) => `${code}: ${message}`,
    );

  t.test('work that comes while none waits begins in the same call', async (t) => {
    const { begun, send, isTurnOpen } = open();
    const sent = send('a', 1);
    t.same(begun, ['a']);
    t.equal(await sent, 'a');
    void send('b', 1);
    t.same(begun, ['a', 'b']);
    t.equal(isTurnOpen(), true);
  });

  t.test('work has at most four milliseconds of a turn, and what is left of them at its end', async (t) => {
    const { begun, send, endTurn, isTurnOpen } = open();
    for (const name of 'abcdefghij') void send(name, 1.5);
    t.same(begun.splice(0), ['a', 'b', 'c'], 'the third begins below the bound');
    t.same(await endTurn(), [], 'nothing is left of this turn');
    void send('k', 0);
    t.same(begun, [], 'nothing overtakes what waits');
    t.same(await endTurn(), ['d', 'e', 'f']);
    t.same(await endTurn(), ['g', 'h', 'i']);
    t.same(await endTurn(), ['j', 'k']);
    t.equal(isTurnOpen(), false, 'no turn is watched while nothing comes');
  });

  t.test('callers take turns', async (t) => {
    const { send, endTurn } = open();
    for (const name of ['a1', 'a2', 'a3', 'a4']) void send(name, 4);
    void send('b1', 4, { caller: 'bob' });
    t.same(await endTurn(), ['a1']);
    t.same(await endTurn(), ['a2']);
    t.same(await endTurn(), ['b1'], 'before the other work of alice');
    t.same(await endTurn(), ['a3']);
  });

  t.test('a caller may have a quarter of what waits, in number and in bytes', async (t) => {
    const { budget, send, endTurn } = open({ items: 16 });
    void send('first', 4);
    const waiting = ['a', 'b', 'c', 'd'].map((name) => codeOf(send(name, 0)));
    const tooMany = 'overloaded: too many of your requests wait to be parsed: send fewer at a time; retry in a moment';
    t.equal(await codeOf(send('e', 0)), tooMany);
    t.equal(await codeOf(send('f', 0, { caller: 'bob', bytes: 401 })), tooMany);
    void send('g', 0, { caller: 'bob', bytes: 400 });
    t.equal(await codeOf(send('h', 0, { caller: 'bob' })), tooMany);
    t.equal(budget.waiting, 5);
    await endTurn();
    t.same(await endTurn(), ['a', 'g', 'b', 'c', 'd']);
    t.same(await Promise.all(waiting), ['done', 'done', 'done', 'done']);
    t.equal(budget.waiting, 0);
    void send('again', 4, { bytes: 400 });
    void send('later', 0, { bytes: 400 });
    t.equal(budget.waiting, 1, 'what has begun frees its room');
  });

  t.test('all callers together have the whole queue', async (t) => {
    const { send, endTurn } = open({ items: 16 });
    void send('first', 4);
    const sent = Array.from({ length: 17 }, (_, i) => codeOf(send(`${i}`, 0, { caller: `${i}` })));
    t.equal(await sent[16], 'overloaded: too many requests wait to be parsed; retry in a moment');
    await endTurn();
    t.equal((await endTurn()).length, 16);
  });

  t.test('what work throws, or rejects with, is its own failure, and its time counts', async (t) => {
    const { budget, begun, send, endTurn } = open();
    const failing = budget.run({ caller: 'alice', bytes: 1 }, () => {
      void send('within', 4);
      throw new Error('no JSON');
    });
    await t.rejects(failing, { message: 'no JSON' });
    begun.splice(0);
    const rejecting = codeOf(budget.run({ caller: 'alice', bytes: 1 }, () => Promise.reject(new Error('no node'))));
    void send('next', 0);
    t.same(begun, [], 'the turn is over');
    await endTurn();
    t.same(await endTurn(), ['next']);
    t.match(await rejecting, 'no node');
  });

  t.test('work whose caller has gone never begins, and frees its room', async (t) => {
    const { budget, send, endTurn } = open();
    const controller = new AbortController();
    void send('first', 4);
    const gone = codeOf(send('gone', 0, { signal: controller.signal, bytes: 400 }));
    controller.abort();
    t.equal(await gone, 'overloaded: the caller has gone');
    t.equal(budget.waiting, 0);
    const next = codeOf(send('next', 0, { bytes: 400 }));
    await endTurn();
    t.same(await endTurn(), ['next']);
    t.equal(await next, 'done');
  });
});

t.test('work under way', async (t) => {
  setFlagsFromString('--expose-gc');
  const gc: (options?: { type: 'minor' }) => void = runInNewContext('gc');
  const WORKS = 20_000;
  const AT_A_TIME = 20;

  /** Returns the bytes of heap that are left of much work that has ended, after collections of new objects alone. */
  function bytesLeft(works: { set(key: string, work: unknown): unknown; delete(key: string): unknown }): number {
    gc();
    const before = getHeapStatistics().used_heap_size;
    for (let i = 0; i < WORKS; i++) {
      works.set(`work ${i}`, new Array(128).fill(i));
      works.delete(`work ${i - AT_A_TIME}`);
      if (i % 500 === 0) gc({ type: 'minor' });
    }
    return getHeapStatistics().used_heap_size - before;
  }

  t.test('work that has ended is collected with new objects, unlike that of a Map', async (t) => {
    const [map, own] = [bytesLeft(new Map()), bytesLeft(new WorkUnderWay())];
    t.ok(own < map / 2, `${own} of ${map} bytes`);
  });

  t.test('it knows what is under way', async (t) => {
    const works = new WorkUnderWay<string>();
    works.set('a', 'first');
    works.set('b', 'second');
    works.delete('a');
    works.delete('never begun');
    t.same([works.get('a'), works.get('b'), works.get('never begun')], [undefined, 'second', undefined]);
  });
});

t.test('work per turn', async (t) => {
  const work = new WorkPerTurn(3);
  const turns: number[][] = [[]];
  const run = (id: number): void => work.run(() => turns.at(-1)?.push(id));
  for (let id = 0; id < 8; id++) run(id);
  for (let turn = 0; turn < 4; turn++) {
    turns.push([]);
    await new Promise(setImmediate);
    if (turn === 0) run(8);
  }
  t.strictSame(turns, [[0, 1, 2], [3, 4, 5], [6, 7, 8], [], []], 'each turn holds three, in order');
});
