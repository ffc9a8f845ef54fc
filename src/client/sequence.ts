import type { Result } from './declared.ts';

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
export class Sequence {
  readonly #everyFrame: boolean;
  #last: Snapshot | undefined;

  /** With `everyFrame` false the gateway skips frames by design. */
  constructor(everyFrame: boolean) {
    this.#everyFrame = everyFrame;
  }

  /** What was missed before this frame, if anything was; `repeated` for a frame that is no news. */
  next(frame: Snapshot): Gap | 'repeated' | undefined {
    const last = this.#last;
    const isSameStream = last?.stream === frame.stream;
    if (last !== undefined && isSameStream && frame.seq <= last.seq) return 'repeated';
    this.#last = frame;
    if (last === undefined) return undefined;
    if (!isSameStream) return { missed: null, after: last, before: frame };
    const missed = frame.seq - last.seq - 1;
    return missed > 0 && this.#everyFrame ? { missed, after: last, before: frame } : undefined;
  }
}
