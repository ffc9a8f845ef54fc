import t from 'tap';
import { MessageQueue } from '../../../../src/upstream/pubsub/message-queue.ts';

t.test('the sender is paused above the bound, and resumed below half of it', async (t) => {
  const events: string[] = [];
  let handled = 0;
  const queue = new MessageQueue({
    maxBytes: 1000 * 1128,
    handle: () => handled++,
    pause: () => events.push(`paused with ${handled} handled`),
    resume: () => events.push(`resumed with ${handled} handled`),
  });
  for (let n = 0; n < 1200; n++) queue.push(Buffer.alloc(1000));
  t.strictSame(events, ['paused with 0 handled']);
  t.equal(handled, 0, 'push never waits');
  while (handled < 1200) await new Promise(setImmediate);
  t.match(events, ['paused with 0 handled', /^resumed with (7\d\d) handled$/]);
});

t.test('other work runs during a flood', async (t) => {
  const handledBefore: number[] = [];
  let handled = 0;
  const queue = new MessageQueue({ maxBytes: 1e9, handle: () => handled++, pause() {}, resume() {} });
  for (let n = 0; n < 10_000; n++) queue.push(Buffer.from('{}'));
  while (handled < 10_000) {
    await new Promise(setImmediate);
    handledBefore.push(handled);
  }
  t.ok(handledBefore.length > 10 && handledBefore.every((n, turn) => n - (handledBefore[turn - 1] ?? 0) <= 1000));
});

t.test('nothing is handled after the queue is closed', async (t) => {
  const queue = new MessageQueue({ maxBytes: 1e9, handle: () => t.fail('handled'), pause() {}, resume() {} });
  queue.push(Buffer.from('{}'));
  queue.close();
  await new Promise(setImmediate);
  t.pass();
});
