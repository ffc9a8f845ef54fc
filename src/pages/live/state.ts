import { STALLED_MS } from '../../shared/domain/network-snapshot.ts';
import { formatSpan } from '../format/figures.ts';

export const STATE_WORDS = {
  connecting: 'Connecting',
  live: 'Live',
  degraded: 'Degraded',
  slow: 'Slow',
  stalled: 'Stalled',
  offline: 'Offline',
  restarting: 'Restarting',
  limited: 'Rate limited',
  /** What the gateway sends is not proven. */
  refused: 'Refused',
} as const;

/** What people read about the network and the line to its gateway. */
export type LiveState = keyof typeof STATE_WORDS;

/** What is known about the line. All times are monotonic, of the reader's own clock: a frame's `updatedAt` is another's. */
export interface Line {
  /** The interval of frames that was requested, in milliseconds; 0 for one each slot. */
  readonly intervalMs: number;
  /** The newest slot; undefined before the first. */
  readonly slot: number | undefined;
  /** The time at which the slot last rose. */
  readonly risenMs: number;
  /** The newest frame: before one there are no values. */
  readonly frame: FrameEvent | undefined;
  /** The connections in a row that were lost, or that nobody answered. */
  readonly lost: number;
  readonly isRestarting: boolean;
  /** Whether what came last is not proven. */
  readonly isRefused: boolean;
  /** The time until which the gateway refuses requests. */
  readonly limitedUntilMs: number | undefined;
  readonly isEnded: boolean;
}

interface FrameEvent {
  readonly type: 'frame';
  readonly slot: number;
  /** The process of the gateway, if it names one. */
  readonly stream: string | undefined;
  readonly health: 'ok' | 'degraded';
  /** Whether it was read over HTTP, since no stream was to be had. */
  readonly isPolled: boolean;
}

/** What happens on the line. */
export type LineEvent =
  | FrameEvent
  /** A frame came that is not proven. */
  | { readonly type: 'refused' }
  /** The gateway answered, and named its newest slot if it has one. */
  | { readonly type: 'answer'; readonly slot: number; readonly slotAgeMs: number }
  /** A connection closed, or none could be made. */
  | { readonly type: 'closed'; readonly code: number }
  | { readonly type: 'limited'; readonly retryAfterMs: number }
  /** The reader's tab gave the line up: what it will see next is not known. */
  | { readonly type: 'slept' }
  /** A connection closed, and another one would be refused: the key is not valid, or the page has a defect. */
  | { readonly type: 'ended' };

export interface LineView {
  readonly state: LiveState;
  /** The time since the slot last rose, in milliseconds; 0 before the first. */
  readonly slotAgeMs: number;
  /** The time left of a limit, in milliseconds. */
  readonly waitMs: number;
  readonly isPolled: boolean;
  /** Whether a frame has come since the line was opened: the values of one before have no known age. */
  readonly hasFrame: boolean;
  /** The time after which the view changes although nothing happens, in milliseconds; undefined for never. */
  readonly changesInMs: number | undefined;
}

/** A slot comes each 400 ms. */
const SLOW_MS = 3000;

/** The time between two reads over HTTP. */
export const POLL_MS = 5000;

/** The first connection that is lost is no failed reconnect; the second one that fails is the third that is lost. */
const LOST_WHEN_OFFLINE = 3;
const SECOND_MS = 1000;

/** Close code of a gateway that shuts down (RFC 6455). */
const GOING_AWAY = 1001;

export const newLine = (intervalMs: number): Line => ({
  intervalMs,
  slot: undefined,
  risenMs: 0,
  frame: undefined,
  lost: 0,
  isRestarting: false,
  isRefused: false,
  limitedUntilMs: undefined,
  isEnded: false,
});

export function afterEvent(line: Line, event: LineEvent, nowMs: number): Line {
  const { slot = Number.NEGATIVE_INFINITY } = line;
  switch (event.type) {
    case 'frame': {
      const { frame, risenMs } = line;
      // a gateway may be behind another one of its address, or be of another cluster: then its own next slot counts
      const isRisen = event.slot > slot || (frame && frame.stream === event.stream && event.slot > frame.slot);
      const risen = isRisen ? { slot: event.slot, risenMs: nowMs } : { slot, risenMs };
      return { ...newLine(line.intervalMs), ...risen, frame: event };
    }
    case 'refused':
      return { ...line, lost: 0, isRefused: true };
    case 'answer': {
      const risenMs = nowMs - event.slotAgeMs;
      // the reader's own clock counts, unless it began when the slot was old already
      const isNews = event.slot > slot || (event.slot === slot && risenMs < line.risenMs);
      return { ...line, lost: 0, isRestarting: false, ...(event.slot > 0 && isNews && { slot: event.slot, risenMs }) };
    }
    case 'limited':
      return { ...line, lost: 0, limitedUntilMs: nowMs + event.retryAfterMs };
    case 'slept':
      return { ...newLine(line.intervalMs), limitedUntilMs: line.limitedUntilMs, isEnded: line.isEnded };
    case 'closed':
      return { ...line, lost: line.lost + 1, isRestarting: line.isRestarting || event.code === GOING_AWAY };
    case 'ended':
      return { ...line, isEnded: true };
  }
}

/** Moves the times of a line by a span: by minus a clock's time to send it, by another's to receive it. */
export const movedBy = (line: Line, ms: number): Line => ({
  ...line,
  risenMs: line.risenMs + ms,
  limitedUntilMs: line.limitedUntilMs === undefined ? undefined : line.limitedUntilMs + ms,
});

/** Returns what people read about the line now. */
export function viewOf(line: Line, nowMs: number): LineView {
  const { slot, risenMs, limitedUntilMs = 0, frame } = line;
  const slotAgeMs = slot === undefined ? 0 : Math.max(0, nowMs - risenMs);
  // a moment after the second, when a line that turns slow has turned
  const nextSecondMs = slot === undefined ? undefined : SECOND_MS - (slotAgeMs % SECOND_MS) + 1;
  const view = (state: LiveState, changesInMs = nextSecondMs, waitMs = 0): LineView => ({
    state,
    slotAgeMs,
    waitMs,
    isPolled: frame?.isPolled ?? false,
    hasFrame: frame !== undefined,
    changesInMs,
  });
  if (line.isEnded) return view('offline');
  const waitMs = limitedUntilMs - nowMs;
  if (waitMs > 0) return view('limited', waitMs % SECOND_MS || SECOND_MS, waitMs);
  if (line.lost >= LOST_WHEN_OFFLINE) return view('offline');
  if (line.isRefused) return view('refused');
  if (line.isRestarting) return view('restarting');
  const waitedMs = slotAgeMs - pauseMsOf(line);
  if (waitedMs > STALLED_MS) return view('stalled');
  if (waitedMs > SLOW_MS) return view('slow');
  if (frame === undefined) return view('connecting');
  return view(frame.health === 'ok' ? 'live' : 'degraded', Math.min(nextSecondMs ?? SECOND_MS, SLOW_MS - waitedMs + 1));
}

/** Returns the time by which a frame may be later than its slot. */
function pauseMsOf({ intervalMs, frame }: Line): number {
  if (frame?.isPolled) return POLL_MS;
  return intervalMs > SECOND_MS ? intervalMs : 0;
}

/** Returns true if the values can be read as current ones. */
export const isCurrent = ({ state }: Pick<LineView, 'state'>): boolean => state === 'live' || state === 'degraded';

/** Returns true if there is a gateway, and no new slot. */
export const isBehind = ({ state }: Pick<LineView, 'state'>): boolean => state === 'slow' || state === 'stalled';

/** Returns true if the values are so old that those which move fast are not shown any more. */
export const isOld = (view: LineView): boolean => !isCurrent(view) && (!view.hasFrame || view.slotAgeMs > STALLED_MS);

/** Returns the state in words, with the time that belongs to it. */
export function describeView(view: LineView): string {
  const word = STATE_WORDS[view.state];
  if (isBehind(view)) return `${word}: no new slot for ${formatSpan(view.slotAgeMs)}`;
  const time = timeOf(view);
  return time === '' ? word : `${word}, ${time}`;
}

/** Returns the time that belongs to the state, with its figure first where room is short; empty for none. */
export function timeOf(view: LineView): string {
  const { state, slotAgeMs, waitMs, isPolled } = view;
  if (isBehind(view)) return `${formatSpan(slotAgeMs)} without a new slot`;
  if (state === 'limited') return `next try in ${Math.ceil(waitMs / SECOND_MS)} s`;
  return isPolled && isCurrent(view) ? `each ${POLL_MS / SECOND_MS} s` : '';
}
