/** What people are told about the line from this page to its gateway. */
export type LiveState = 'connecting' | 'live' | 'degraded' | 'stale' | 'offline' | 'restarting' | 'limited';

export const STATE_WORDS: Readonly<Record<LiveState, string>> = {
  connecting: 'Connecting',
  live: 'Live',
  degraded: 'Degraded',
  stale: 'Stale',
  offline: 'Offline',
  restarting: 'Restarting',
  limited: 'Rate limited',
};

/** What is known about the line. All times are monotonic, of the reader's own clock: a frame's `updatedAt` is another's. */
export interface Line {
  /** The interval of frames that was asked for, in milliseconds; 0 for one each slot. */
  readonly intervalMs: number;
  /** The arrival of the last frame; undefined before the first. */
  readonly frameMs: number | undefined;
  readonly health: 'ok' | 'degraded';
  /** The connections that were lost or failed since the last frame. */
  readonly lost: number;
  readonly isRestarting: boolean;
  /** The time until which the gateway has asked not to be asked. */
  readonly limitedUntilMs: number | undefined;
  /** Whether another connection would be refused too. */
  readonly isEnded: boolean;
}

/** What happens on the line. */
export type LineEvent =
  | { readonly type: 'frame'; readonly health: 'ok' | 'degraded' }
  /** A connection closed, or none could be made. */
  | { readonly type: 'closed'; readonly code: number }
  | { readonly type: 'limited'; readonly retryAfterMs: number };

/** The state of a line at one time. */
export interface LineView {
  readonly state: LiveState;
  /** The time since the last frame, in milliseconds; 0 before the first. */
  readonly ageMs: number;
  /** The time left of a limit, in milliseconds. */
  readonly waitMs: number;
  /** The time after which the view changes although nothing happens, in milliseconds; undefined for never. */
  readonly changesInMs: number | undefined;
}

/** A frame comes each slot. */
const FRESH_MS = 3000;

/** Without a slot a frame comes each five seconds, and says so. */
const FRESH_DEGRADED_MS = 8000;

/** The first connection that is lost is no failed reconnect; the second one that fails is the third that is lost. */
const LOST_WHEN_OFFLINE = 3;

/** The age from which fees and rates, which move fast, are no longer shown. */
const OLD_MS = 30_000;

const SECOND_MS = 1000;

/** Close code of a gateway that shuts down (RFC 6455). */
const GOING_AWAY = 1001;

/** Close codes after which another connection would end the same way: the key is not valid, or this page has a defect. */
const ENDING_CODES: ReadonlySet<number> = new Set([4401, 4403]);

/** Close codes of a reader who is too slow or a writer who is too fast. */
const LIMITING_CODES: ReadonlySet<number> = new Set([1013, 4429]);

/** The wait after a limiting close code, which names none. */
const LIMITED_MS = 5000;

export const newLine = (intervalMs: number): Line => ({
  intervalMs,
  frameMs: undefined,
  health: 'ok',
  lost: 0,
  isRestarting: false,
  limitedUntilMs: undefined,
  isEnded: false,
});

/** Returns the line after an event. */
export function afterEvent(line: Line, event: LineEvent, nowMs: number): Line {
  switch (event.type) {
    case 'frame':
      return { ...newLine(line.intervalMs), frameMs: nowMs, health: event.health };
    case 'limited':
      return { ...line, limitedUntilMs: nowMs + event.retryAfterMs };
    case 'closed': {
      const isLimited = LIMITING_CODES.has(event.code);
      return {
        ...line,
        lost: line.lost + 1,
        isRestarting: line.isRestarting || event.code === GOING_AWAY,
        isEnded: ENDING_CODES.has(event.code),
        ...(isLimited && { limitedUntilMs: nowMs + LIMITED_MS }),
      };
    }
  }
}

/** Returns what people are told about the line now. */
export function viewOf(line: Line, nowMs: number): LineView {
  const { frameMs, limitedUntilMs = 0 } = line;
  const ageMs = frameMs === undefined ? 0 : Math.max(0, nowMs - frameMs);
  const view = (state: LiveState, changesInMs?: number, waitMs = 0): LineView => ({
    state,
    ageMs,
    waitMs,
    changesInMs,
  });
  if (line.isEnded) return view('offline');
  const waitMs = limitedUntilMs - nowMs;
  if (waitMs > 0) return view('limited', waitMs % SECOND_MS || SECOND_MS, waitMs);
  if (line.lost >= LOST_WHEN_OFFLINE) return view('offline');
  if (line.isRestarting) return view('restarting');
  if (frameMs === undefined) return view('connecting');
  const freshMs = freshMsOf(line);
  if (ageMs > freshMs) return view('stale', SECOND_MS - (ageMs % SECOND_MS));
  return view(line.health === 'ok' ? 'live' : 'degraded', freshMs - ageMs + 1);
}

/** Returns the time for which a frame is fresh: longer where the next one can't be there before. */
const freshMsOf = ({ health, intervalMs }: Line): number =>
  (health === 'ok' ? FRESH_MS : FRESH_DEGRADED_MS) + (intervalMs > SECOND_MS ? intervalMs : 0);

/** Returns true if the values can be read as current ones. */
export const isCurrent = ({ state }: LineView): boolean => state === 'live' || state === 'degraded';

/** Returns true if the values are so old that those which move fast are not shown any more. */
export const isOld = (view: LineView): boolean => !isCurrent(view) && view.ageMs > OLD_MS;

/** Returns the state in words, with the time that belongs to it. */
export function describeView({ state, ageMs, waitMs }: LineView): string {
  if (state === 'stale') return `Stale ${Math.floor(ageMs / SECOND_MS)} s`;
  if (state === 'limited') return `Rate limited, next try in ${Math.ceil(waitMs / SECOND_MS)} s`;
  return STATE_WORDS[state];
}
