import { fork } from 'node:child_process';
import { once } from 'node:events';
import { openSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { MAX_BATCH_BYTES, MAX_PAYLOAD_BYTES } from '../../../../src/fleet/workers/log-layout.ts';
import { LogReader } from '../../../../src/fleet/workers/log-reader.ts';
import { LogWriter } from '../../../../src/fleet/workers/log-writer.ts';
import { TurnWatch } from '../../../../src/fleet/workers/turn-watch.ts';

const folder = t.testdir();
const BYTES = 3 * MAX_BATCH_BYTES;
let logs = 0;

function createLog(bytes = BYTES) {
  const path = join(folder, `log-${logs++}`);
  const writer = new LogWriter({ path, bytes, epoch: 1 });
  t.teardown(() => writer.close());
  const read = (from = 0) => {
    const frames: string[] = [];
    const onFrame = (type: number, payload: Buffer) => frames.push(`${type}:${payload.length}:${payload[0] ?? ''}`);
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
          written.push(`${step.length % 7}:${step.length}:${step.length === 0 ? '' : step.fill}`);
          writer.append(step.length % 7, Buffer.alloc(step.length, step.fill));
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
    writer.append(i, Buffer.alloc(MAX_PAYLOAD_BYTES, i));
    writer.flush();
  }
  t.notOk(reader.catchUp());
  t.same(frames, []);
  const { reader: joined, frames: later } = read(writer.end);
  writer.append(9, Buffer.from('x'));
  writer.flush();
  t.ok(joined.catchUp());
  t.same(later, ['9:1:120']);
});

t.test(
  'a torn head is not believed, frames that are too long are refused, and only the owner can read (F14)',
  async (t) => {
    const { path, writer, read } = createLog();
    const { reader, frames } = read();
    writer.append(1, Buffer.from('a'));
    writer.flush();
    t.ok(reader.catchUp());
    const file = openSync(path, 'r+');
    writeSync(file, Buffer.from([255]), 0, 1, 0); // half of a head
    t.ok(reader.catchUp());
    t.same(frames, ['1:1:97']);
    t.throws(() => writer.append(1, Buffer.alloc(MAX_PAYLOAD_BYTES + 1)), { message: /too long/ });
    t.equal(statSync(path).mode & 0o777, 0o600);
  },
);

t.test('a writer that is killed leaves whole frames', async (t) => {
  const path = join(folder, 'killed');
  const child = fork(new URL('../../../support/log-writing.js', import.meta.url), [path]);
  await once(child, 'message');
  const sums: number[] = [];
  const onFrame = (_: number, payload: Buffer) =>
    sums.push(payload.readUInt32LE(0) - payload.readUInt32LE(payload.length - 4));
  const reader = new LogReader({ path, bytes: 4 * MAX_BATCH_BYTES, from: 0, onFrame });
  t.teardown(() => reader.close());
  child.kill('SIGKILL');
  await once(child, 'exit');
  t.ok(reader.catchUp());
  t.ok(sums.length > 0);
  t.ok(sums.every((difference) => difference === 0));
});

t.test('a worker looks before the first request of a turn, and again after 32', async (t) => {
  let looks = 0;
  const watch = new TurnWatch(() => looks++);
  for (let i = 0; i < 32; i++) watch.check();
  t.equal(looks, 1);
  watch.check();
  t.equal(looks, 2);
  await new Promise((resolve) => setImmediate(resolve));
  watch.check();
  t.equal(looks, 3);
});
