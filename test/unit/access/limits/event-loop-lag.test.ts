import t from 'tap';
import { EventLoopLag } from '../../../../src/access/limits/event-loop-lag.ts';

/** Creates an event loop that lags as much as the test sets. */
function lateLoop() {
  let nowMs = 0;
  let due: { readonly atMs: number; readonly work: () => void } | undefined;
  const clock = {
    now: () => nowMs,
    monotonic: () => nowMs,
    after(ms: number, work: () => void) {
      due = { atMs: nowMs + ms, work };
      return () => {
        due = undefined;
      };
    },
  };
  const delay = new EventLoopLag(clock);
  const looks = (count: number, lateMs: number): void => {
    for (let i = 0; i < count && due !== undefined; i++) {
      nowMs = due.atMs + lateMs;
      due.work();
    }
  };
  return { delay, looks, isWaiting: () => due !== undefined };
}

t.test('one long pause does not count as overload', async (t) => {
  const { delay, looks } = lateLoop();
  looks(1, 60_000);
  t.equal(delay.medianMs, 0);
  looks(20, 2);
  t.equal(delay.medianMs, 2);
  looks(4, 60_000);
  t.equal(delay.medianMs, 2);
});

t.test('repeated lag is reported, and so is the recovery', async (t) => {
  const { delay, looks } = lateLoop();
  looks(5, 150);
  t.equal(delay.medianMs, 150);
  looks(5, 1);
  t.equal(delay.medianMs, 1);
});

t.test('a closed one takes no more samples', async (t) => {
  const { delay, looks, isWaiting } = lateLoop();
  looks(1, 0);
  delay.close();
  t.notOk(isWaiting());
});
