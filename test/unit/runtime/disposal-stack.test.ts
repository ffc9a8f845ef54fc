import t from 'tap';
import { DisposalStack } from '../../../src/runtime/disposal-stack.ts';

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
