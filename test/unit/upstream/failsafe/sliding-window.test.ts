import t from 'tap';
import { SlidingWindow } from '../../../../src/upstream/failsafe/sliding-window.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

t.test('events count for the seconds of the window, and leave it by the second', async (t) => {
  const clock = new ManualClock();
  clock.advance(1000 - (clock.monotonic() % 1000)); // to the start of a second
  const startMs = clock.monotonic();
  const window = new SlidingWindow(clock, 3);
  t.match([window.count, window.oldestEndMs], [0, undefined]);
  window.record();
  clock.advance(999);
  window.record();
  clock.advance(1);
  window.record();
  t.match([window.count, window.oldestEndMs], [3, startMs + 3000]);
  clock.advance(1999);
  t.equal(window.count, 3);
  clock.advance(1);
  t.match([window.count, window.oldestEndMs], [1, startMs + 4000]);
  window.clear();
  t.equal(window.count, 0);
});
