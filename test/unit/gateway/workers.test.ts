import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync, readdirSync, rmSync, statSync, writeSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { type Config, closeMsOf } from '../../../src/config/config-schema.ts';
import { loadConfig } from '../../../src/config/load-config.ts';
import type { AdminSources } from '../../../src/gateway/admin/admin-sources.ts';
import { checkReadiness } from '../../../src/gateway/admin/readiness.ts';
import { WorkerFigures } from '../../../src/gateway/admin/worker-figures.ts';
import { Cache } from '../../../src/gateway/cache/cache.ts';
import type { AnswerMeta, CacheItem, Entry } from '../../../src/gateway/cache/entry.ts';
import { EventCodec, STRUCTURES } from '../../../src/gateway/fleet/codec.ts';
import type { StoredAnswer } from '../../../src/gateway/fleet/events.ts';
import { AnswerFollower } from '../../../src/gateway/fleet/replication/answer-follower.ts';
import { Connection } from '../../../src/gateway/fleet/rpc/connection.ts';
import type { PipelineMessage, WorkerRequest } from '../../../src/gateway/fleet/rpc/messages.ts';
import { createMemoryFolder } from '../../../src/gateway/fleet/supervisor/memory-folder.ts';
import { Supervisor } from '../../../src/gateway/fleet/supervisor/supervisor.ts';
import { LogReader } from '../../../src/gateway/fleet/transport/shared-log/log-reader.ts';
import {
  LOG_BYTES,
  LogWriter,
  MAX_BATCH_BYTES,
  MAX_PAYLOAD_BYTES,
} from '../../../src/gateway/fleet/transport/shared-log/log-writer.ts';
import { PipelineEnd, SOCKET_NAME } from '../../../src/gateway/fleet/workers/pipeline-end.ts';
import { createTurnWatch } from '../../../src/gateway/fleet/workers/turn-watch.ts';
import { WorkerReads } from '../../../src/gateway/fleet/workers/worker-reads.ts';
import { Watermark } from '../../../src/gateway/live/watermark.ts';
import { WatermarkLease } from '../../../src/gateway/live/watermark-lease.ts';
import { balance } from '../../../src/gateway/routes/balance.ts';
import { readAnswer } from '../../../src/gateway/routes/routing/route-read-through.ts';
import { Sealer } from '../../../src/gateway/serving/sealer.ts';
import type { AccountSubscriber } from '../../../src/shared/domain/account-change.ts';
import type { Clock } from '../../../src/shared/domain/clock.ts';
import { GatewayError } from '../../../src/shared/domain/gateway-error.ts';
import type { Slot } from '../../../src/shared/domain/slot.ts';
import type { StartError } from '../../../src/shared/domain/start-error.ts';
import { RequestCost, SCAN_UNITS, unitsOfUpstream } from '../../../src/shared/domain/units.ts';
import type { Admit } from '../../../src/shared/runtime/fair-semaphore.ts';
import { systemClock } from '../../../src/shared/runtime/system-clock.ts';
import { waitFor } from '../../support/harness.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { newSigner } from '../../support/receipts/sealed-answers.ts';
import { MAX_STALE_MS, openWorker, serviceOver, shortFolder } from '../../support/worker-end-fixtures.ts';

/** Its reads keep nothing live. */
const UNCOUNTED = { recordRead() {} };

t.test('connection', async (t) => {
  const MIB = 1 << 20;

  /** Opens a connection to a socket that does what a test wants. */
  async function openConnection(t: Test) {
    const received: object[] = [];
    const path = join(shortFolder(), 'socket');
    const server = createServer();
    await once(server.listen(path), 'listening');
    const peer: Socket = connect(path);
    peer.on('error', () => {}); // it is cut off
    const [socket] = (await once(server, 'connection')) as [Socket];
    let isClosed = false;
    const connection = new Connection<object, object>(
      socket,
      (message) => received.push(message),
      () => {
        isClosed = true;
      },
    );
    t.teardown(() => {
      peer.destroy();
      server.close();
    });
    return { connection, peer, received, isClosed: () => isClosed };
  }

  t.test('messages arrive whole and in order, however they are cut', async (t) => {
    const { connection, peer, received } = await openConnection(t);
    const data: Buffer[] = [];
    peer.on('data', (piece: Buffer) => data.push(piece));
    const sent = [{ type: 'a', id: 1, text: 'text' }, { type: 'b', text: 'x'.repeat(100_000) }, { type: 'c' }];
    for (const message of sent) connection.send(message);
    while (Buffer.concat(data).length < 100_000) await once(peer, 'data');
    const bytes = Buffer.concat(data);
    for (let at = 0; at < bytes.length; at += 7_001) {
      peer.write(bytes.subarray(at, at + 7_001));
      await new Promise(setImmediate);
    }
    while (received.length < sent.length) await new Promise(setImmediate);
    t.same(received, sent);
  });

  t.test('F13: a process that reads nothing is cut off before it costs much memory', async (t) => {
    const { connection, peer } = await openConnection(t);
    peer.pause();
    let sent = 0;
    while (connection.isOpen && sent < 300) {
      connection.send({ type: 'answer', answer: new Uint8Array(MIB) });
      sent++;
    }
    t.ok(sent > 100 && sent < 200, `after ${sent} MiB`);
  });

  t.test('F13: a peer that announces a message that no process sends is cut off', async (t) => {
    const { peer, isClosed } = await openConnection(t);
    const head = Buffer.alloc(4);
    head.writeUInt32LE(100 * MIB, 0);
    peer.write(head);
    await once(peer, 'close');
    t.ok(isClosed());
  });

  t.test('F13: a worker keeps 10,000 requests waiting, and refuses the next without a wait', async (t) => {
    const worker = openWorker(shortFolder()); // there is no pipeline process
    t.teardown(() => worker.close());
    const codes = new Map<string, number>();
    const requests = Array.from({ length: 10_050 }, async () => {
      const { code } = await worker.read({ key: '/api/v1/slot' }).catch((thrown) => thrown);
      codes.set(code, (codes.get(code) ?? 0) + 1);
    });
    await new Promise(setImmediate);
    t.equal(codes.get('overloaded'), 50); // on a busy machine some of the others have waited a second already
    await Promise.all(requests);
    t.equal(codes.get('upstream_unavailable'), 10_000);
  });
});

t.test('log', async (t) => {
  const folder = t.testdir();
  const BYTES = 3 * MAX_BATCH_BYTES;
  let logs = 0;

  function createLog(bytes = BYTES) {
    const path = join(folder, `log-${logs++}`);
    const writer = new LogWriter({ path, bytes });
    t.teardown(() => writer.close());
    const read = (from = 0) => {
      const frames: string[] = [];
      const onFrame = (payload: Buffer) => frames.push(`${payload.length}:${payload[0] ?? ''}`);
      const reader = new LogReader({ path, bytes, from, onFrame });
      t.teardown(() => reader.close());
      return { reader, frames };
    };
    return { path, writer, read };
  }

  t.test('each reader has read a prefix of one log, around its end too (F1)', async () => {
    const steps = fc.array(
      fc.oneof(
        fc.record({ length: fc.oneof(fc.nat(400), fc.nat(300_000)), fill: fc.nat(255) }),
        fc.constant('flush' as const),
        fc.constantFrom('read 0' as const, 'read 1' as const),
      ),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(steps, (list) => {
        const { path, writer, read } = createLog();
        const [one, two] = [read(), read()];
        const written: string[] = [];
        let visible = 0;
        let isFollowed = true;
        for (const step of list) {
          if (step === 'flush') {
            writer.flush();
            visible = written.length;
          } else if (typeof step === 'string') {
            const { reader, frames } = step === 'read 0' ? one : two;
            if (!reader.catchUp())
              isFollowed = false; // it was overtaken, and says so
            else if (frames.length < visible) return false;
            if (frames.join() !== written.slice(0, frames.length).join()) return false;
          } else {
            written.push(`${step.length}:${step.length === 0 ? '' : step.fill}`);
            writer.append(Buffer.alloc(step.length, step.fill));
          }
          if (!isFollowed) break;
        }
        rmSync(path);
        return true;
      }),
      { numRuns: 60 },
    );
  });

  t.test('a reader that was overtaken says so, and has handled nothing that was written over', async (t) => {
    const { writer, read } = createLog();
    const { reader, frames } = read();
    for (let i = 0; i < 4; i++) {
      writer.append(Buffer.alloc(MAX_PAYLOAD_BYTES, i));
      writer.flush();
    }
    t.notOk(reader.catchUp());
    t.same(frames, []);
    const { reader: joined, frames: later } = read(writer.end);
    writer.append(Buffer.from('x'));
    writer.flush();
    t.ok(joined.catchUp());
    t.same(later, ['1:120']);
  });

  t.test('a torn head is not believed, too long frames are refused, and only the owner can read (F14)', async (t) => {
    const { path, writer, read } = createLog();
    const { reader, frames } = read();
    writer.append(Buffer.from('a'));
    writer.flush();
    t.ok(reader.catchUp());
    const file = openSync(path, 'r+');
    writeSync(file, Buffer.from([255]), 0, 1, 0); // half of a head
    t.ok(reader.catchUp());
    t.same(frames, ['1:97']);
    t.throws(() => writer.append(Buffer.alloc(MAX_PAYLOAD_BYTES + 1)), { message: /too long/ });
    t.equal(statSync(path).mode & 0o777, 0o600);
  });

  t.test('a writer that is killed leaves whole frames', async (t) => {
    const path = join(folder, 'killed');
    const child = fork(new URL('../../support/log-writing.js', import.meta.url), [path]);
    await once(child, 'message');
    const sums: number[] = [];
    const onFrame = (payload: Buffer) => sums.push(payload.readUInt32LE(0) - payload.readUInt32LE(payload.length - 4));
    const reader = new LogReader({ path, bytes: 4 * MAX_BATCH_BYTES, from: 0, onFrame });
    t.teardown(() => reader.close());
    child.kill('SIGKILL');
    await once(child, 'exit');
    t.ok(reader.catchUp());
    t.ok(sums.length > 0);
    t.ok(sums.every((difference) => difference === 0));
  });

  t.test('a worker catches up before the first request of a turn, and again after 32', async (t) => {
    let times = 0;
    const watch = createTurnWatch(() => times++, new ManualClock());
    for (let i = 0; i < 32; i++) watch();
    t.equal(times, 1);
    watch();
    t.equal(times, 2);
    await new Promise((resolve) => setImmediate(resolve));
    watch();
    t.equal(times, 3);
  });

  t.test('a worker that was stopped in the midst of a turn catches up before the next request of it', async (t) => {
    let times = 0;
    const clock = new ManualClock();
    const watch = createTurnWatch(() => times++, clock);
    watch();
    watch();
    t.equal(times, 1);
    clock.advance(2000);
    watch();
    t.equal(times, 2);
  });
});

t.test('memory-folder', async (t) => {
  const MODULE = new URL('../../../src/gateway/fleet/supervisor/memory-folder.js', import.meta.url);

  t.test('a gateway removes the folder of one that was killed, and not that of one that lives', async (t) => {
    const run = (end: string): string => {
      const script = `const { createMemoryFolder } = await import(${JSON.stringify(MODULE.href)});
      process.stdout.write(createMemoryFolder().path);
      ${end};`;
      return spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }).stdout;
    };
    const ended = run('process.exit(0)');
    t.match(ended, /slotgate-[0-9a-f]{12}$/);
    t.notOk(existsSync(ended), 'an orderly end leaves none, whatever was closed');
    const stdout = run("process.kill(process.pid, 'SIGKILL')");
    t.match(stdout, /slotgate-[0-9a-f]{12}$/);
    t.ok(existsSync(stdout), 'the killed process has left it');
    const living = createMemoryFolder();
    t.notOk(existsSync(stdout));
    t.notOk(existsSync(`${stdout}.lock`));
    const other = createMemoryFolder();
    t.ok(existsSync(living.path));
    living.remove();
    other.remove();
    for (const { path } of [living, other]) t.notOk(existsSync(path) || existsSync(`${path}.lock`));
  });
});

t.test('pipeline-end', async (t) => {
  const KEYS = ['/api/v1/balance/A', '/api/v1/balance/B', '/api/v1/balance/C'] as const;
  const META: AnswerMeta = { envelope: 'signed', commitment: 'confirmed', exact: false };
  const FIRST_SLOT = 100;
  const signer = newSigner();
  const codec = new EventCodec();

  /** Opens live accounts, the log of the cache that shows them, and a copy that the log is applied to frame by frame. */
  async function openLoggedAccounts(folder: string) {
    const clock = new ManualClock();
    const cache = new Cache({ clock, bytes: 1 << 20, maxStaleMs: MAX_STALE_MS, hotKeys: 10 });
    const sealer = new Sealer({ cache, signer, clock, presign: 10, signBatchSize: 4 });
    const end = new PipelineEnd({ folder, epoch: 1, workers: [], clock, endLate: async () => {} });
    await end.open(
      serviceOver(cache, { sealer, read: async ({ key }) => ({ entry: read(key), cacheStatus: 'MISS' }) }),
    );
    let tip = FIRST_SLOT;
    const watermark = new Watermark(() => tip);
    watermark.advance(tip, clock.monotonic());
    const accounts = KEYS.map((key) => ({
      key,
      changes: [FIRST_SLOT] as Slot[],
      lease: new WatermarkLease(FIRST_SLOT, watermark, UNCOUNTED),
    }));
    const resultAt = (key: string, slot: Slot): string =>
      `{"changed":${accounts.find((each) => each.key === key)?.changes.findLast((change) => change <= slot)}}`;

    const copy = new Cache({ clock, bytes: 1 << 20, maxStaleMs: MAX_STALE_MS, hotKeys: 10 });
    const follower = new AnswerFollower({ cache: copy, clock, onTip: () => {}, onLiveAnswer: () => {} });
    const faults: string[] = [];
    const logged: string[] = [];
    const log = new LogReader({
      path: join(folder, 'log-1'),
      bytes: LOG_BYTES,
      from: 0,
      onFrame(payload, at) {
        const event = codec.decode(payload);
        if (event.type === 'watermark-advanced') logged.push(`watermark ${event.slot}`);
        if (event.type === 'answer-stored') {
          const { slot, body } = codec.decode<StoredAnswer>(event.answer);
          if (body !== null) logged.push(`body ${slot}`);
          const awaited = follower.await(event.key);
          awaited.keep(event.answer, at);
          awaited.end();
        } else follower.apply(event, at);
        for (const key of KEYS) {
          const item = copy.get(key);
          if (item?.kind === 'answer' && item.result !== resultAt(key, item.slot))
            faults.push(`behind ${event.type}: ${item.result} at ${item.slot}`);
        }
      },
    });
    const leaseOf = (key: string): WatermarkLease | undefined => accounts.find((each) => each.key === key)?.lease;
    function read(key: string): Entry {
      const item = cache.get(key);
      const lease = leaseOf(key);
      if (item?.kind === 'answer' && cache.isFresh(item)) return item;
      const slot = lease?.slot ?? 0;
      return cache.put(key, { slot, result: resultAt(key, slot), lease }, { slots: 2 }, META);
    }
    const act = {
      read() {
        for (const key of KEYS)
          sealer.sealFor(read(key), null, { resolve: () => {}, reject: (reason) => faults.push(String(reason)) });
      },
      change(i: number) {
        const account = accounts[i % accounts.length];
        if (account === undefined || account.changes.at(-1) === tip) return;
        account.changes.push(tip);
        const former = account.lease;
        account.lease = new WatermarkLease(tip, watermark, UNCOUNTED);
        former.revoke();
      },
      tip() {
        clock.advance(400);
        tip++;
        cache.advanceTip(tip);
        end.onTip('processed', tip, tip - 1);
      },
      'clock update'() {
        watermark.advance(tip - 1, clock.monotonic());
        cache.advanceHot(watermark);
        end.publishWatermarks();
      },
      turn: () => {},
    };
    return {
      act,
      faults,
      resultAt,
      sealer,
      catchUp: () => log.catchUp(),
      logged,
      close() {
        log.close();
        end.close();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  }

  t.test('F8: a watermark is logged behind all ends of leases and hot bodies that it rests on', async (t) => {
    const event = fc.oneof(
      fc.record({ name: fc.constantFrom('read', 'tip', 'clock update', 'turn') }),
      fc.record({ name: fc.constant('change'), i: fc.nat(KEYS.length - 1) }),
    );
    let frames = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 10, maxLength: 60 }), async (events) => {
        const accounts = await openLoggedAccounts(shortFolder());
        const { act, faults, catchUp, close } = accounts;
        for (const { name, ...rest } of events) {
          act[name as keyof typeof act]('i' in rest ? Number(rest.i) : 0);
          if (name !== 'turn') continue;
          await turn();
          catchUp();
        }
        for (let i = 0; i < 6; i++) await turn();
        catchUp();
        frames += accounts.logged.length;
        close();
        if (faults.length > 0) throw new Error([...new Set(faults)].join('; '));
      }),
      { numRuns: 30 },
    );
    t.ok(frames > 20, `${frames} watermarks and bodies`);

    const { act, logged, catchUp, close } = await openLoggedAccounts(shortFolder());
    const turns = async (): Promise<void> => {
      for (let i = 0; i < 6; i++) await turn();
      catchUp();
    };
    for (let i = 0; i < 4; i++) {
      act.read();
      act.tip();
      await turns();
    }
    logged.length = 0;
    act['clock update']();
    await turns();
    t.same(logged, [...KEYS.map(() => 'body 103'), 'watermark 103']);
    close();
  });

  t.test('a worker that starts after a key was revoked gets no body that was signed before', async (t) => {
    const folder = shortFolder();
    const { act, sealer, close } = await openLoggedAccounts(folder);
    act.tip();
    act.read();
    for (let i = 0; i < 6; i++) await turn();
    const bodies: boolean[] = [];
    for (const id of [0, 1]) {
      const worker = openWorker(folder, { id });
      await worker.joined;
      const { entry } = await worker.read({ key: KEYS[0] });
      bodies.push(entry.body !== undefined);
      worker.close();
      sealer.invalidateReceipts();
    }
    t.same(bodies, [true, false]);
    close();
  });

  t.test('F8: an answer that was requested is dated no further than its lease', async (t) => {
    const event = fc.oneof(
      { weight: 4, arbitrary: fc.record({ name: fc.constantFrom('request', 'change'), i: fc.nat(KEYS.length - 1) }) },
      { weight: 5, arbitrary: fc.record({ name: fc.constantFrom('tip', 'clock update', 'turn') }) },
    );
    let answers = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 20, maxLength: 100 }), async (events) => {
        const folder = shortFolder();
        const { act, faults, resultAt, close } = await openLoggedAccounts(folder);
        const worker = openWorker(folder);
        await worker.joined;
        const check = (item: CacheItem | undefined): void => {
          if (item?.kind !== 'answer') return;
          answers++;
          if (item.result !== resultAt(item.key, item.slot)) faults.push(`${item.key}: ${item.result} at ${item.slot}`);
        };
        const requested: Promise<void>[] = [];
        for (const { name, ...rest } of events) {
          const i = 'i' in rest ? Number(rest.i) : 0;
          if (name === 'request')
            requested.push(worker.read({ key: KEYS[i] ?? KEYS[0] }).then(({ entry }) => check(entry)));
          else act[name as keyof typeof act](i);
          if (name !== 'turn') continue;
          await turn();
          for (const key of KEYS) check(worker.cache.get(key));
        }
        await Promise.all(requested);
        for (let i = 0; i < 6; i++) await turn();
        for (const key of KEYS) check(worker.cache.get(key));
        worker.close();
        close();
        if (faults.length > 0) throw new Error([...new Set(faults)].join('; '));
      }),
      { numRuns: 30 },
    );
    t.ok(answers > 100, `${answers} answers`);
  });

  t.test('what one worker requests is logged once, and wakes no other until the log has grown', async (t) => {
    const folder = shortFolder();
    const cache = new Cache({ clock: systemClock, bytes: 1 << 24, maxStaleMs: MAX_STALE_MS, hotKeys: 10 });
    const clock = new ManualClock(); // no timer wakes a worker
    const end = new PipelineEnd({ folder, epoch: 1, workers: [], clock, endLate: async () => {} });
    const result = JSON.stringify('x'.repeat(100_000));
    await end.open(
      serviceOver(cache, {
        read: async ({ key }) => ({
          entry: cache.put(key, { slot: 1, result }, { slots: 2 }, META),
          cacheStatus: 'MISS',
        }),
      }),
    );
    const requesting = openWorker(folder);
    const received: string[] = [];
    const socket = connect(join(folder, SOCKET_NAME));
    const other = new Connection<WorkerRequest, PipelineMessage>(
      socket,
      ({ type }) => received.push(type),
      () => {},
    );
    let answers = 0;
    const onFrame = (payload: Buffer): void => {
      if (codec.decode(payload).type === 'answer-stored') answers++;
    };
    const log = new LogReader({ path: join(folder, 'log-1'), bytes: LOG_BYTES, from: 0, onFrame });
    t.teardown(() => {
      log.close();
      other.close();
      requesting.close();
      end.close();
    });
    other.send({ type: 'hello', worker: 1, served: {}, granted: 0 });
    await requesting.joined;
    await turn(); // what joining brings is logged
    const caller = { caller: '', hasPriority: false };
    other.send({ type: 'read', id: 1, key: '/api/v1/balance/0', ...caller });
    await waitFor(() => received.includes('answer'), 'all that was sent before');
    received.length = 0;

    for (let i = 1; received.length === 0; i++) {
      await requesting.read({ key: `/api/v1/balance/${i}` });
      log.catchUp();
      t.equal(answers, 1 + i);
      await turn();
    }
    t.same(received, ['log-grew']);
    t.ok(answers * result.length >= LOG_BYTES / 16, `${answers} answers until then`);
  });

  t.test('what an operator gave that is found to lie is read again, also on its way to a worker', async (t) => {
    const WAYS = {
      'while it is read': (drop: () => void) => drop(),
      'when it was sent': (drop: () => void) => process.nextTick(drop),
    };
    for (const [when, find] of Object.entries(WAYS)) {
      const folder = shortFolder();
      const cache = new Cache({ clock: systemClock, bytes: 1 << 20, maxStaleMs: MAX_STALE_MS, hotKeys: 10 });
      const clock = new ManualClock(); // no timer logs anything else
      const end = new PipelineEnd({ folder, epoch: 1, workers: [], clock, endLate: async () => {} });
      const reads = new Map<string, number>();
      /** Gives a lie first, and the truth after it was found. */
      const give = (what: string): string => {
        const read = (reads.get(what) ?? 0) + 1;
        reads.set(what, read);
        if (read === 1) find(() => cache.dropUnagreed());
        return read === 1 ? '"lie"' : '"truth"';
      };
      const agreement = { slot: 1, agreed: 1, read: 2, needed: 2 };
      await end.open(
        serviceOver(cache, {
          async read({ key }) {
            const result = give(key);
            if (key === KEYS[1] && result === '"lie"') throw new GatewayError('slot_skipped', 'none');
            return { entry: cache.put(key, { slot: 1, result, agreement }, { slots: 2 }, META), cacheStatus: 'MISS' };
          },
          answerRpc: async () => ({ result: give('call'), cacheStatus: 'MISS' }),
          async readEvents() {
            const at = { slot: 1, index: 0 };
            const event = { index: 0, slot: 1, result: give('events'), before: null, gap: null, isComplete: true };
            return { events: [event], end: at, covered: at, present: [1], held: [1], isWhole: true };
          },
        }),
      );
      const worker = openWorker(folder, { waitMs: MAX_STALE_MS });
      t.teardown(() => {
        worker.close();
        end.close();
      });
      await worker.joined;
      for (const key of [KEYS[0], KEYS[1]]) {
        const { entry } = await worker.read({ key });
        t.equal(entry.result, '"truth"', `${key} ${when}`);
        t.equal(worker.cache.peek(key), entry);
      }
      const cost = new RequestCost('caller', false);
      t.equal(
        (await worker.answerRpc(Buffer.from('{}'), { minSlot: undefined }, cost)).result,
        '"truth"',
        `a call ${when}`,
      );
      const query = { topics: [], commitment: 'confirmed', since: undefined, held: undefined } as const;
      t.match(await worker.readEvents(query), { events: [{ result: '"truth"' }] }, `events ${when}`);
      t.same([...reads.values()], [2, 2, 2, 2]);
    }
  });

  t.test('what fewer operators gave than a caller demands is no answer, whichever worker read it', async (t) => {
    const folder = shortFolder();
    const [key] = KEYS;
    const cache = new Cache({ clock: systemClock, bytes: 1 << 20, maxStaleMs: MAX_STALE_MS, hotKeys: 10 });
    const end = new PipelineEnd({ folder, epoch: 1, workers: [], clock: systemClock, endLate: async () => {} });
    const put = (slot: number, agreed: number): Entry =>
      cache.put(key, { slot, result: `${slot}`, agreement: { slot, agreed, read: 2, needed: 2 } }, { slots: 2 }, META);
    let isDown = false;
    await end.open(
      serviceOver(cache, {
        async read() {
          if (isDown) throw new GatewayError('upstream_unavailable', 'nobody');
          process.nextTick(() => put(2, 1)); // for another worker, when this answer was sent
          return { entry: put(1, 2), cacheStatus: 'MISS' };
        },
      }),
    );
    const worker = openWorker(folder, { waitMs: MAX_STALE_MS });
    t.teardown(() => {
      worker.close();
      end.close();
    });
    await worker.joined;
    const admitOwn: Admit = (work) => work.start(() => {});
    const reads = new WorkerReads({ end: worker, clock: systemClock, operators: undefined, admitOwn });
    const read = (agree: number) => readAnswer(reads, { route: balance, params: {}, key, agree });
    await t.rejects(read(2), { code: 'no_agreement' });
    t.match(await read(1), { entry: { slot: 2 } });
    isDown = true;
    await t.rejects(read(2), { code: 'upstream_unavailable' });
  });

  t.test('a worker reads what is stale once at a time, in its own places, and while somebody reads it', async (t) => {
    const folder = shortFolder();
    const reads: string[] = [];
    const end = new PipelineEnd({ folder, epoch: 1, workers: [], clock: systemClock, endLate: async () => {} });
    const pipelineCache = new Cache({ clock: systemClock, bytes: 1 << 20, maxStaleMs: MAX_STALE_MS, hotKeys: 10 });
    const read = ({ key }: { readonly key: string }): Promise<never> => {
      reads.push(key);
      return new Promise(() => {});
    };
    await end.open(serviceOver(pipelineCache, { read }));
    const clock = new ManualClock();
    const cache = { clock, bytes: 1 << 20, maxStaleMs: MAX_STALE_MS, hotKeys: 10 };
    const worker = openWorker(folder, { clock, cache, waitMs: MAX_STALE_MS });
    t.teardown(() => worker.close());
    await worker.joined;
    let admitted = 0;
    const admitOwn: Admit = (work) => {
      admitted++;
      work.start(() => {});
    };
    const workerReads = new WorkerReads({ end: worker, clock, operators: undefined, admitOwn });
    worker.cache.advanceTip(100);
    for (const key of KEYS) worker.cache.put(key, { slot: 100, result: '1' }, { slots: 2 }, META);
    clock.advance(10_000); // no slot came
    const readStale = (key: string): void => {
      const waiter = { resolve: () => void t.fail(), reject: () => void t.fail() };
      const read = workerReads.begin({ route: balance, params: {}, key }, waiter);
      t.equal(read?.cacheStatus, 'STALE');
      clock.advance(500);
    };
    const [first, second, third] = KEYS;
    for (const key of [first, second, first, second, first]) readStale(key);
    worker.read({ key: 'last' }).catch(() => {});
    await waitFor(() => reads.includes('last'), 'all that was sent before');
    t.same(reads, [first, second, 'last']);
    t.equal(admitted, 2);
    end.close();
    await waitFor(() => !worker.isJoined, 'the end of the pipeline process');
    readStale(third);
    t.equal(admitted, 2);
  });

  t.test('a pipeline process makes room for its log: that of one before is gone once no worker reads it', (t) => {
    const folder = shortFolder();
    const open = (epoch: number) =>
      new PipelineEnd({ folder, epoch, workers: [], clock: systemClock, endLate: async () => {} });
    const killed = open(1);
    const reader = new LogReader({ path: join(folder, 'log-1'), bytes: LOG_BYTES, from: 0, onFrame: () => {} });
    const next = open(2);
    t.same(readdirSync(folder), ['log-2']);
    t.equal(reader.catchUp(), true);
    reader.close();
    for (const end of [killed, next]) end.close();
    t.same(readdirSync(folder), []);
    t.end();
  });

  t.test('what a request has cost is charged when it is known, also where nobody waits for it any more', async (t) => {
    const folder = shortFolder();
    const cache = new Cache({ clock: systemClock, bytes: 1 << 20, maxStaleMs: MAX_STALE_MS, hotKeys: 10 });
    const end = new PipelineEnd({ folder, epoch: 1, workers: [], clock: systemClock, endLate: async () => {} });
    const ends: ((reason: GatewayError) => void)[] = [];
    const read = (_: object, cost: RequestCost): Promise<never> => {
      cost.scans++;
      return new Promise((_resolve, reject) => ends.push(reject));
    };
    await end.open(serviceOver(cache, { read }));
    const clock = new ManualClock();
    const waitMs = 12_000;
    const worker = openWorker(folder, { clock, cache: { clock, bytes: 1 << 20, maxStaleMs: 0, hotKeys: 10 }, waitMs });
    t.teardown(() => {
      worker.close();
      end.close();
    });
    await worker.joined;
    const cost = new RequestCost('caller', false);
    const answer = worker.read({ key: KEYS[0] }, cost);
    await waitFor(() => ends.length === 1, 'the read');
    clock.advance(waitMs);
    await t.rejects(answer, { code: 'upstream_unavailable' });
    let charged = 0;
    cost.onCallsEnded(() => {
      charged = unitsOfUpstream(cost);
    });
    ends[0]?.(new GatewayError('upstream_timeout', 'late'));
    await waitFor(() => charged > 0, 'the charge');
    t.equal(charged, SCAN_UNITS);
  });

  t.test('F12: a worker has caught up when the first answers are there, and not before', async (t) => {
    const folder = shortFolder();
    const cache = new Cache({ clock: systemClock, bytes: 1 << 20, maxStaleMs: MAX_STALE_MS, hotKeys: 10 });
    const end = new PipelineEnd({ folder, epoch: 1, workers: [], clock: systemClock, endLate: async () => {} });
    let start = (): void => {};
    const started = new Promise<void>((resolve) => {
      start = resolve;
    });
    await end.open(serviceOver(cache, { started }));
    const worker = openWorker(folder);
    t.teardown(() => {
      worker.close();
      end.close();
    });
    let isWarm = false;
    void worker.warm.then(() => {
      isWarm = true;
    });
    await worker.joined;
    await turn();
    t.equal(isWarm, false);
    start();
    await worker.warm;
  });

  t.test('a subscription is made once, also one that a worker wants while it joins', async (t) => {
    const folder = shortFolder();
    const path = join(folder, 'log');
    const writer = new LogWriter({ path, bytes: LOG_BYTES });
    const received: string[] = [];
    let joinWorker = (): void => {};
    const server = createServer((socket) => {
      const connection = new Connection<PipelineMessage, WorkerRequest>(
        socket,
        (message) => {
          received.push(message.type);
          joinWorker = () => connection.send({ type: 'joined', path, from: 0, snapshot: [], structures: STRUCTURES });
        },
        () => {},
      );
    });
    await once(server.listen(join(folder, SOCKET_NAME)), 'listening');
    const worker = openWorker(folder);
    t.teardown(() => {
      worker.close();
      server.close();
      writer.close();
    });
    await waitFor(() => received.length > 0, 'hello');
    const account: AccountSubscriber = { onChange: () => {}, onEnd: () => {} };
    const follow = (address: string) =>
      worker.subscribe({ type: 'subscribe', address, commitment: 'confirmed', account }, 'one');
    const followed = follow('A');
    followed.addCaller('two');
    followed.addCaller('three');
    followed.removeCaller('three');
    followed.removeCaller('three'); // it was removed already
    follow('B').end();
    joinWorker();
    await worker.joined;
    worker.reportFigures([], []);
    await waitFor(() => received.includes('figures'), 'all that was sent');
    t.same(received, ['hello', 'subscribe', 'add-caller', 'figures']);
  });

  t.test('of a subscription that has ended nothing is kept', async (t) => {
    const folder = shortFolder();
    const cache = new Cache({ clock: systemClock, bytes: 1 << 20, maxStaleMs: MAX_STALE_MS, hotKeys: 10 });
    const end = new PipelineEnd({ folder, epoch: 1, workers: [], clock: systemClock, endLate: async () => {} });
    const accounts: AccountSubscriber[] = [];
    const ended: string[] = [];
    const liveAccounts = {
      subscribe: (address: string, _: string, account: AccountSubscriber) => {
        accounts.push(account);
        return { addCaller: () => {}, removeCaller: () => {}, end: () => ended.push(address) };
      },
    };
    await end.open(serviceOver(cache, { liveAccounts }));
    const received: string[] = [];
    const worker = new Connection<WorkerRequest, PipelineMessage>(
      connect(join(folder, SOCKET_NAME)),
      ({ type }) => received.push(type),
      () => {},
    );
    t.teardown(() => end.close());
    worker.send({ type: 'hello', worker: 1, served: {}, granted: 0 });
    for (const [id, address] of ['A', 'B'].entries())
      worker.send({ type: 'subscribe', id, address, commitment: 'confirmed', caller: '' });
    await waitFor(() => accounts.length === 2, 'both');
    accounts[0]?.onEnd(new GatewayError('overloaded', 'no place'));
    await waitFor(() => received.includes('subscription-ended'), 'the end of one');
    worker.close();
    await waitFor(() => ended.includes('B'), 'the end of the worker');
    t.same(ended, ['B']);
  });

  t.test('nothing is published before the workers that do not join have ended', async (t) => {
    const folder = shortFolder();
    const cache = new Cache({ clock: systemClock, bytes: 1 << 20, maxStaleMs: MAX_STALE_MS, hotKeys: 10 });
    const late: (readonly number[])[] = [];
    let confirmEnd = (): void => {};
    const endLate = (workers: readonly number[]): Promise<void> =>
      new Promise((resolve) => {
        late.push(workers);
        confirmEnd = resolve;
      });
    const end = new PipelineEnd({ folder, epoch: 1, workers: [0, 1], clock: systemClock, endLate });
    let isOpen = false;
    const opening = end.open(serviceOver(cache)).then(() => {
      isOpen = true;
    });
    const worker = openWorker(folder, { id: 0 });
    t.teardown(() => {
      worker.close();
      end.close();
    });
    await worker.joined;
    await waitFor(() => late.length > 0, 'the other worker to be late');
    await turn();
    t.same([late, isOpen], [[[1]], false]);
    confirmEnd();
    await opening;
  });

  t.test('a gateway is ready while a worker serves the port, also at the next pipeline process', async (t) => {
    const folder = shortFolder();
    const cache = new Cache({ clock: systemClock, bytes: 1 << 20, maxStaleMs: MAX_STALE_MS, hotKeys: 10 });
    cache.advanceTip(1);
    const context = { cache, mesh: { nodes: () => [] }, startupProblem: () => {}, isLeaving: () => false };
    const open = async (epoch: number) => {
      const workers = new WorkerFigures();
      const end = new PipelineEnd({ folder, epoch, workers: [], clock: systemClock, endLate: async () => {} });
      await end.open(serviceOver(cache, { figures: workers }));
      const sources = { context, workers } as unknown as AdminSources;
      const problems = (): string =>
        checkReadiness(sources)
          .flatMap(({ problem }) => problem ?? [])
          .join();
      return { end, problems };
    };
    const { end, problems } = await open(1);
    const worker = openWorker(folder);
    t.teardown(() => worker.close());
    await worker.joined;
    t.equal(problems(), 'no worker serves the port');
    worker.reportFigures([], []);
    await waitFor(() => problems() === '', 'the worker');
    end.close();
    const next = await open(2);
    t.teardown(() => next.end.close());
    await waitFor(() => next.problems() === '', 'the worker at the next process');
    worker.close();
    await waitFor(() => next.problems() !== '', 'its end');
  });

  t.test('what is wrong with one worker is seen at each, until it is mended or the worker has ended', async (t) => {
    const folder = shortFolder();
    const cache = new Cache({ clock: systemClock, bytes: 1 << 20, maxStaleMs: MAX_STALE_MS, hotKeys: 10 });
    const end = new PipelineEnd({ folder, epoch: 1, workers: [0, 1], clock: systemClock, endLate: async () => {} });
    const figures = new WorkerFigures();
    const service = serviceOver(cache, { figures });
    await end.open({ ...service, vitals: () => ({ ...service.vitals(), problems: figures.problems }) });
    const workers = [0, 1].map((id) => openWorker(folder, { id }));
    const [first, other] = workers;
    t.teardown(() => {
      for (const worker of workers) worker.close();
      end.close();
    });
    await Promise.all(workers.map(({ joined }) => joined));
    const isSeen = (problem?: string) => (): boolean => other?.mesh.vitals?.problems[0] === problem;
    first?.reportFigures([], ['a full disk']);
    await waitFor(isSeen('a full disk'), 'the problem at the other worker');
    first?.reportFigures([], []);
    await waitFor(isSeen(), 'none');
    first?.reportFigures([], ['a full disk']);
    await waitFor(isSeen('a full disk'), 'the problem at the other worker');
    first?.close();
    await waitFor(isSeen(), 'none');
  });
});

t.test('supervisor', async (t) => {
  /** Supervises a pipeline process and a worker, and returns what is logged. */
  function supervise(
    t: Test,
    clock: Clock,
    module = new URL('../../support/refused-member.js', import.meta.url),
    settings: Partial<Config> = {},
  ) {
    const logged: string[] = [];
    const write = (_: object, message: string): void => {
      logged.push(message);
    };
    let onFatal = (_: StartError): void => {};
    const fatal = new Promise<StartError>((resolve) => {
      onFatal = resolve;
    });
    const base = loadConfig({ cwd: '/' });
    const config = { ...base, ...settings, workers: { ...base.workers, count: 1 } };
    const supervisor = new Supervisor({
      config,
      receiptKey: { production: false },
      secrets: {},
      isAdminPortChosen: false,
      embedded: undefined,
      module,
      clock,
      log: { info: write, warn: write, error: write },
      onFatal,
    });
    t.teardown(() => supervisor.close());
    return { supervisor, config, logged, fatal };
  }

  t.test('a process that is refused when it is up already is reported, and not started again', async (t) => {
    const { supervisor, logged, fatal } = supervise(t, new ManualClock());
    await supervisor.open();
    supervisor.reload(); // at which this pipeline process is refused
    t.match(await fatal, { exitCode: 78, message: 'the nodes are of another cluster' });
    t.same(logged, []);
  });

  t.test('a process that stands still when it is to be replaced is killed once it should have ended', async (t) => {
    const clock = new ManualClock();
    const { supervisor, config } = supervise(t, clock);
    const waitsMs: number[] = [];
    const after = clock.after.bind(clock);
    clock.after = (ms, work) => {
      waitsMs.push(ms);
      return after(ms, work);
    };
    await supervisor.open();
    supervisor.countFailedReload(); // at which this pipeline process stands still
    const renewed = supervisor.renew(config);
    const killMs = closeMsOf(config) + 5000;
    await waitFor(() => waitsMs.includes(killMs), 'the end of the pipeline process');
    clock.advance(killMs);
    t.ok(await renewed);
  });

  t.test('a process whose supervisor is gone ends', async (t) => {
    const member = fork(new URL('../../../src/gateway/composition/member-main.js', import.meta.url));
    t.teardown(() => member.kill('SIGKILL'));
    await once(member, 'spawn');
    member.disconnect();
    t.same(await once(member, 'exit'), [0, null]);
  });

  t.test('a pipeline process is up once the workers that it names as late have ended', async (t) => {
    const lateMember = new URL('../../support/late-member.js', import.meta.url);
    const { supervisor, config, logged } = supervise(t, new ManualClock(), lateMember);
    await supervisor.open();
    t.ok(await supervisor.renew(config));
    t.same(logged.slice(0, 2), ['a process stands still, and is killed', 'a process has ended; it is started again']);
  });

  t.test('a renewal that is refused leaves no process with the new settings', async (t) => {
    const member = new URL('../../support/recorded-member.js', import.meta.url);
    const dataDir = t.testdir();
    const clock = new ManualClock();
    const { supervisor, config } = supervise(t, clock, member, { dataDir });
    const running = (): string =>
      readdirSync(dataDir)
        .map((name) => name.replace(/^\d+ /, ''))
        .sort()
        .join();
    await supervisor.open();
    t.equal(running(), 'pipeline 0,worker 0');
    const refused = { ...config, drainDelayMs: 1, workers: { ...config.workers, count: 3 } };
    t.notOk(await supervisor.renew(refused));
    await waitFor(() => {
      clock.advance(1); // the time of the restart
      return running() === 'pipeline 0,worker 0';
    }, 'those of before alone');
  });

  t.test('a process that the system cannot start now is started when it can, and holds up no end', async (t) => {
    const { execPath } = process;
    t.teardown(() => {
      process.execPath = execPath;
    });
    // For most reasons Node reports the failure as an event, for others it throws.
    for (const impossible of ['/there/is/none', 'none\0']) {
      const clock = new ManualClock();
      const { supervisor, config, logged } = supervise(t, clock);
      const times = (message: string): number => logged.filter((each) => each === message).length;
      await supervisor.open();
      process.execPath = impossible;
      t.notOk(await supervisor.renew(config));
      clock.advance(6000); // both are killed, as they say nothing
      await waitFor(() => times('a process has ended; it is started again') === 2, 'the end of both');
      clock.advance(1);
      await waitFor(() => times('a process could not be started again') === 2, 'the failure of both');
      process.execPath = execPath;
      clock.advance(5000);
      await waitFor(() => times('the process runs again') === 2, 'both');
      await supervisor.close();
    }
  });

  t.test('a process that a renewal has replaced before its restart is not started twice', async (t) => {
    const clock = new ManualClock();
    const { supervisor, config, logged } = supervise(t, clock);
    await supervisor.open();
    clock.advance(6000); // both are killed, as they say nothing
    const restarted = 'a process has ended; it is started again';
    await waitFor(() => logged.filter((message) => message === restarted).length === 2, 'the end of both');
    t.ok(await supervisor.renew(config));
    clock.advance(1); // the time of both restarts
    await supervisor.close();
    await turn();
    const others = logged.filter((message) => message !== 'a process stands still, and is killed');
    t.same(others, [restarted, restarted, 'all processes were replaced']);
  });
});
