import t from 'tap';
import { SilenceWatchdog } from '../../../src/runtime/silence-watchdog.ts';
import { ManualClock } from '../../support/manual-clock.ts';

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
