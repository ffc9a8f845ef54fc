import t from 'tap';
import { MessageQueue } from '../../../../src/upstream/pubsub/message-queue.ts';

t.test('the sender is paused above the bound, and resumed below half of it', async (t) => {
  const events: string[] = [];
  let taken = 0;
  const inbox = new MessageQueue({
    maxBytes: 1000 * 1128,
    handle: () => taken++,
    pause: () => events.push(`held with ${taken} taken`),
    resume: () => events.push(`let go with ${taken} taken`),
  });
  for (let n = 0; n < 1200; n++) inbox.push(Buffer.alloc(1000));
  t.strictSame(events, ['held with 0 taken']);
  t.equal(taken, 0, 'whoever pushes is not made to wait');
  while (taken < 1200) await new Promise(setImmediate);
  t.match(events, ['held with 0 taken', /^let go with (7\d\d) taken$/]);
});

t.test('other work runs during a flood', async (t) => {
  const takenBefore: number[] = [];
  let taken = 0;
  const inbox = new MessageQueue({ maxBytes: 1e9, handle: () => taken++, pause() {}, resume() {} });
  for (let n = 0; n < 10_000; n++) inbox.push(Buffer.from('{}'));
  while (taken < 10_000) {
    await new Promise(setImmediate);
    takenBefore.push(taken);
  }
  t.ok(takenBefore.length > 10 && takenBefore.every((n, turn) => n - (takenBefore[turn - 1] ?? 0) <= 1000));
});

t.test('nothing is handled after the queue is closed', async (t) => {
  const inbox = new MessageQueue({ maxBytes: 1e9, handle: () => t.fail('taken'), pause() {}, resume() {} });
  inbox.push(Buffer.from('{}'));
  inbox.close();
  await new Promise(setImmediate);
  t.pass();
});
