import type { Result } from './route-types.ts';

/** The network as one frame of the stream tells it. */
export type Snapshot = Result<'/network'>;

/** Frames that never came. */
export interface Gap {
  /** How many; null when another process took over, whose count tells nothing. */
  readonly missed: number | null;
  /** The last frame before the gap. */
  readonly after: Snapshot;
  /** The first one behind it. */
  readonly before: Snapshot;
}

/** Watches over the numbers of the frames, from one connection to the next. */
export class GapDetector {
  readonly #expectsEveryFrame: boolean;
  #last: Snapshot | undefined;

  /** With `everyFrame` false the gateway skips frames by design. */
  constructor(expectsEveryFrame: boolean) {
    this.#expectsEveryFrame = expectsEveryFrame;
  }

  /** What was missed before this frame, if anything was; `repeated` for a frame that is no news. */
  observe(frame: Snapshot): Gap | 'repeated' | undefined {
    const last = this.#last;
    const isSameStream = last?.stream === frame.stream;
    if (last !== undefined && isSameStream && frame.seq <= last.seq) return 'repeated';
    this.#last = frame;
    if (last === undefined) return undefined;
    if (!isSameStream) return { missed: null, after: last, before: frame };
    const missed = frame.seq - last.seq - 1;
    return missed > 0 && this.#expectsEveryFrame ? { missed, after: last, before: frame } : undefined;
  }
}
