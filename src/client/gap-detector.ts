import type { Result } from './route-types.ts';

export type Snapshot = Result<'/network'>;

export interface Gap {
  /** The number of missed frames; null if another gateway process took over, which numbers its frames differently. */
  readonly missed: number | null;
  readonly after: Snapshot;
  readonly before: Snapshot;
}

/** Finds gaps in the sequence numbers of frames, also from one connection to the next. */
export class GapDetector {
  readonly #expectsEveryFrame: boolean;
  #last: Snapshot | undefined;

  /** `expectsEveryFrame` is false on a stream with an interval, where the gateway skips frames by design. */
  constructor(expectsEveryFrame: boolean) {
    this.#expectsEveryFrame = expectsEveryFrame;
  }

  /** Returns the gap before this frame, if there is one, or `duplicate` for a frame that is not newer than the last. */
  observe(frame: Snapshot): Gap | 'duplicate' | undefined {
    const last = this.#last;
    const isSameStream = last?.stream === frame.stream;
    if (last !== undefined && isSameStream && frame.seq <= last.seq) return 'duplicate';
    this.#last = frame;
    if (last === undefined) return undefined;
    if (!isSameStream) return { missed: null, after: last, before: frame };
    const missed = frame.seq - last.seq - 1;
    return missed > 0 && this.#expectsEveryFrame ? { missed, after: last, before: frame } : undefined;
  }
}
