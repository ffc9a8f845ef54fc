import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import t from 'tap';
import { Cache } from '../../../../src/cache/cache.ts';
import type { AnswerMeta, CacheItem, Entry } from '../../../../src/cache/entry.ts';
import type { Slot } from '../../../../src/domain/slot.ts';
import { FRAME, unpackAnswer, unpackMark } from '../../../../src/fleet/frames.ts';
import { Replica } from '../../../../src/fleet/replica.ts';
import { LOG_BYTES } from '../../../../src/fleet/workers/log-layout.ts';
import { LogReader } from '../../../../src/fleet/workers/log-reader.ts';
import { PipelineEnd, SOCKET_NAME } from '../../../../src/fleet/workers/pipeline-end.ts';
import { Wire } from '../../../../src/fleet/workers/wire.ts';
import { ReadHeat } from '../../../../src/live/read-heat.ts';
import { Watermark } from '../../../../src/live/watermark.ts';
import { WatermarkLease } from '../../../../src/live/watermark-lease.ts';
import { systemClock } from '../../../../src/runtime/system-clock.ts';
import { Sealer } from '../../../../src/serving/sealer.ts';
import { waitFor } from '../../../support/harness.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { newSigner } from '../../../support/receipts/sealed-answers.ts';
import { MAX_STALE_SLOTS, openWorker, serviceOver, shortFolder } from './worker-world.ts';

const KEYS = ['/api/v1/balance/A', '/api/v1/balance/B', '/api/v1/balance/C'] as const;
const META: AnswerMeta = { envelope: 'signed', commitment: 'confirmed', exact: false };
const FIRST_SLOT = 100;
const signer = newSigner();

/** Opens live accounts, the log of the cache that shows them, and a copy that the log is applied to frame by frame. */
async function openLoggedAccounts(folder: string) {
  const clock = new ManualClock();
  const cache = new Cache({ clock, bytes: 1 << 20, maxStaleSlots: MAX_STALE_SLOTS, hotKeys: 10 });
  const sealer = new Sealer({ cache, signer, clock, sealAhead: 10, sealTogether: 4 });
  const end = new PipelineEnd({ folder, epoch: 1, workers: [], clock, onLate: () => {} });
  await end.open(serviceOver(cache, { read: async (key) => ({ entry: read(key), cacheStatus: 'MISS' }) }));
  const heat = new ReadHeat(75);
  let tip = FIRST_SLOT;
  const watermark = new Watermark(() => tip);
  watermark.advance(tip, clock.monotonic());
  const accounts = KEYS.map((key) => ({
    key,
    changes: [FIRST_SLOT] as Slot[],
    lease: new WatermarkLease(FIRST_SLOT, watermark, heat),
  }));
  const resultAt = (key: string, slot: Slot): string =>
    `{"changed":${accounts.find((each) => each.key === key)?.changes.findLast((change) => change <= slot)}}`;

  const copy = new Cache({ clock, bytes: 1 << 20, maxStaleSlots: MAX_STALE_SLOTS, hotKeys: 10 });
  const replica = new Replica({ cache: copy, clock, onTip: () => {}, onLiveAnswer: () => {} });
  const faults: string[] = [];
  const told: string[] = [];
  const log = new LogReader({
    path: join(folder, 'log-1'),
    bytes: LOG_BYTES,
    from: 0,
    onFrame(type, payload, at) {
      if (type === FRAME.mark) told.push(`mark ${unpackMark(payload).slot}`);
      if (type === FRAME.answer) {
        const { key, slot, body } = unpackAnswer(Buffer.from(payload));
        if (body !== null) told.push(`body ${slot}`);
        const awaited = replica.await(key);
        awaited.keep(Buffer.from(payload), at);
        awaited.end();
      } else replica.apply(type, payload, at);
      for (const key of KEYS) {
        const item = copy.get(key);
        if (item?.kind === 'answer' && item.result !== resultAt(key, item.slot))
          faults.push(`behind a frame ${type}: ${item.result} at ${item.slot}`);
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
      account.lease = new WatermarkLease(tip, watermark, heat);
      former.revoke();
    },
    tip() {
      clock.advance(400);
      tip++;
      cache.advanceTip(tip);
      end.onTip('processed', tip);
    },
    'clock update'() {
      watermark.advance(tip - 1, clock.monotonic());
      cache.advanceHot(watermark);
      end.onMarksMoved();
    },
    turn: () => {},
  };
  return {
    act,
    faults,
    resultAt,
    catchUp: () => log.catchUp(),
    told,
    close() {
      log.close();
      end.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

t.test('F8: a mark is logged behind all ends of leases and hot bodies that it rests on', async (t) => {
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
      frames += accounts.told.length;
      close();
      if (faults.length > 0) throw new Error([...new Set(faults)].join('; '));
    }),
    { numRuns: 30 },
  );
  t.ok(frames > 20, `${frames} marks and bodies`);

  const { act, told, catchUp, close } = await openLoggedAccounts(shortFolder());
  const turns = async (): Promise<void> => {
    for (let i = 0; i < 6; i++) await turn();
    catchUp();
  };
  for (let i = 0; i < 4; i++) {
    act.read();
    act.tip();
    await turns();
  }
  told.length = 0;
  act['clock update']();
  await turns();
  t.same(told, [...KEYS.map(() => 'body 103'), 'mark 103']);
  close();
});

t.test('F8: an answer that was asked for is dated no further than its lease', async (t) => {
  const event = fc.oneof(
    { weight: 4, arbitrary: fc.record({ name: fc.constantFrom('ask', 'change'), i: fc.nat(KEYS.length - 1) }) },
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
      const asked: Promise<void>[] = [];
      for (const { name, ...rest } of events) {
        const i = 'i' in rest ? Number(rest.i) : 0;
        if (name === 'ask')
          asked.push(worker.ask(KEYS[i] ?? KEYS[0], undefined, false).then(({ entry }) => check(entry)));
        else act[name as keyof typeof act](i);
        if (name !== 'turn') continue;
        await turn();
        for (const key of KEYS) check(worker.cache.get(key));
      }
      await Promise.all(asked);
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

t.test('what one worker asks for is logged once, and wakes no other until the log has grown', async (t) => {
  const folder = shortFolder();
  const cache = new Cache({ clock: systemClock, bytes: 1 << 24, maxStaleSlots: MAX_STALE_SLOTS, hotKeys: 10 });
  const end = new PipelineEnd({ folder, epoch: 1, workers: [], clock: systemClock, onLate: () => {} });
  const result = JSON.stringify('x'.repeat(100_000));
  await end.open(
    serviceOver(cache, {
      read: async (key) => ({ entry: cache.put(key, { slot: 1, result }, { slots: 2 }, META), cacheStatus: 'MISS' }),
    }),
  );
  const asking = openWorker(folder);
  const heard: string[] = [];
  const socket = connect(join(folder, SOCKET_NAME));
  const other = new Wire(
    socket,
    ([name]) => heard.push(name),
    () => {},
  );
  let answers = 0;
  const onFrame = (type: number): void => {
    if (type === FRAME.answer) answers++;
  };
  const log = new LogReader({ path: join(folder, 'log-1'), bytes: LOG_BYTES, from: 0, onFrame });
  t.teardown(() => {
    log.close();
    other.close();
    asking.close();
    end.close();
  });
  other.send('hello', 1, {}, 0);
  await asking.joined;
  await turn(); // what joining brings is told
  other.send('ask', 1, '/api/v1/balance/0', null, false, '', false);
  await waitFor(() => heard.includes('answered'), 'all that was told before');
  heard.length = 0;

  for (let i = 1; heard.length === 0; i++) {
    await asking.ask(`/api/v1/balance/${i}`, undefined, false);
    log.catchUp();
    t.equal(answers, 1 + i);
    await turn();
  }
  t.same(heard, ['bell']);
  t.ok(answers * result.length >= LOG_BYTES / 16, `${answers} answers until then`);
});

t.test('F12: a worker has caught up when the first answers are there, and not before', async (t) => {
  const folder = shortFolder();
  const cache = new Cache({ clock: systemClock, bytes: 1 << 20, maxStaleSlots: MAX_STALE_SLOTS, hotKeys: 10 });
  const end = new PipelineEnd({ folder, epoch: 1, workers: [], clock: systemClock, onLate: () => {} });
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
