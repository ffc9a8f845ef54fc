import t from 'tap';
import { Announcer } from '../../../../src/page/live/announcer.ts';
import { KeyMemory } from '../../../../src/page/live/key-memory.ts';
import { afterEvent, describeView, isOld, type LineEvent, newLine, viewOf } from '../../../../src/page/live/state.ts';

const frame: LineEvent = { type: 'frame', health: 'ok' };
const closed = (code: number): LineEvent => ({ type: 'closed', code });

/** Returns the line after events, each at its time. */
const lineAfter = (events: readonly (readonly [atMs: number, event: LineEvent])[], intervalMs = 0) =>
  events.reduce((line, [atMs, event]) => afterEvent(line, event, atMs), newLine(intervalMs));

const stateAt = (nowMs: number, ...events: (readonly [number, LineEvent])[]) => viewOf(lineAfter(events), nowMs).state;

t.test('the state of a line follows from its frames, its closes and the clock', async (t) => {
  const degraded: LineEvent = { type: 'frame', health: 'degraded' };
  t.strictSame(
    {
      'before the first frame': stateAt(60_000),
      'a frame': stateAt(0, [0, frame]),
      'three seconds without one': stateAt(3000, [0, frame]),
      'and a moment more': stateAt(3001, [0, frame]),
      'a degraded frame': stateAt(8000, [0, degraded]),
      'and 8 s without another': stateAt(8001, [0, degraded]),
      'a line that broke just now': stateAt(1000, [0, frame], [900, closed(1006)]),
      'a reconnect that failed': stateAt(3500, [0, frame], [900, closed(1006)], [1500, closed(1006)]),
      'two reconnects that failed': stateAt(
        2000,
        [0, frame],
        [900, closed(1006)],
        [1500, closed(1006)],
        [1900, closed(1006)],
      ),
      'three connections that failed': stateAt(9, [1, closed(1006)], [2, closed(1006)], [3, closed(1006)]),
      'a shutdown': stateAt(1000, [0, frame], [900, closed(1001)]),
      'a shutdown, and nobody there': stateAt(
        5000,
        [0, frame],
        [900, closed(1001)],
        [2500, closed(1006)],
        [4000, closed(1006)],
      ),
      'a frame after all that': stateAt(
        6000,
        [0, frame],
        [900, closed(1001)],
        [2500, closed(1006)],
        [4000, closed(1006)],
        [5900, frame],
      ),
      'too slow a reader': stateAt(1000, [0, frame], [900, closed(1013)]),
      'too many messages': stateAt(1000, [0, frame], [900, closed(4429)]),
      'after that wait': stateAt(5901, [0, frame], [900, closed(4429)]),
      'a limit': stateAt(9999, [0, { type: 'limited', retryAfterMs: 10_000 }]),
      'its end': stateAt(10_000, [0, { type: 'limited', retryAfterMs: 10_000 }]),
      'a key that is not valid': stateAt(60_000, [0, frame], [1, closed(4401)]),
      'a defect of the page': stateAt(1, [0, frame], [1, closed(4403)]),
    },
    {
      'before the first frame': 'connecting',
      'a frame': 'live',
      'three seconds without one': 'live',
      'and a moment more': 'stale',
      'a degraded frame': 'degraded',
      'and 8 s without another': 'stale',
      'a line that broke just now': 'live',
      'a reconnect that failed': 'stale',
      'two reconnects that failed': 'offline',
      'three connections that failed': 'offline',
      'a shutdown': 'restarting',
      'a shutdown, and nobody there': 'offline',
      'a frame after all that': 'live',
      'too slow a reader': 'limited',
      'too many messages': 'limited',
      'after that wait': 'stale',
      'a limit': 'limited',
      'its end': 'connecting',
      'a key that is not valid': 'offline',
      'a defect of the page': 'offline',
    },
  );
});

t.test('an interval above a second is waited for', async (t) => {
  const line = lineAfter([[0, frame]], 5000);
  t.equal(viewOf(line, 8000).state, 'live');
  t.equal(viewOf(line, 8001).state, 'stale');
  t.equal(viewOf(lineAfter([[0, frame]], 1000), 3001).state, 'stale');
});

t.test('a view names the moment of its next change, and its words count', async (t) => {
  const line = lineAfter([[0, frame]]);
  const live = viewOf(line, 400);
  t.equal(viewOf(line, 400 + (live.changesInMs ?? 0)).state, 'stale');
  const stale = viewOf(line, 7300);
  t.equal(describeView(stale), 'Stale 7 s');
  t.equal(describeView(viewOf(line, 7300 + (stale.changesInMs ?? 0))), 'Stale 8 s');
  const limited = lineAfter([[0, { type: 'limited', retryAfterMs: 9000 }]]);
  t.equal(describeView(viewOf(limited, 500)), 'Rate limited, next try in 9 s');
  t.equal(viewOf(limited, 500).changesInMs, 500);
  t.equal(describeView(live), 'Live');
});

t.test('values are old half a minute after the last frame', async (t) => {
  const line = lineAfter([[0, frame]]);
  t.notOk(isOld(viewOf(line, 30_000)));
  t.ok(isOld(viewOf(line, 30_001)));
});

t.test('changes of state are announced, at most one in five seconds', async (t) => {
  const announcer = new Announcer();
  t.equal(announcer.next('connecting', 0), undefined);
  t.equal(announcer.next('live', 100), 'Network status: Live');
  t.equal(announcer.next('stale', 3000), undefined);
  t.equal(announcer.next('live', 4000), undefined);
  t.equal(announcer.next('stale', 5100), 'Network status: Stale');
  t.equal(announcer.next('stale', 20_000), undefined);
});

t.test('a key is remembered by cluster, where the browser lets the page keep anything', async (t) => {
  const kept = new Map<string, string>();
  const memory = new KeyMemory({
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, value) => void kept.set(name, value),
  });
  memory.remember('a', 'key of a');
  t.equal(memory.keyOf('a'), 'key of a');
  t.equal(memory.keyOf('b'), undefined);
  const refuse = (): never => {
    throw new Error('SecurityError');
  };
  const forgetful = new KeyMemory({ getItem: refuse, setItem: refuse });
  forgetful.remember('a', 'key');
  t.equal(forgetful.keyOf('a'), undefined);
});
