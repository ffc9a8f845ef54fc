import { parseExactJson } from '../shared/domain/parse-exact-json.ts';
import type { Result } from './route-types.ts';
import { SlotgateError } from './slotgate-error.ts';
import type { Receipt } from './verify/receipt.ts';
import type { VerifyAnswer } from './verify-answer.ts';

export type Snapshot = Result<'/network'>;

export interface Gap {
  /** The number of missed frames; null if another gateway process took over, which numbers its frames differently. */
  readonly missed: number | null;
  readonly after: Snapshot;
  readonly before: Snapshot;
}

interface Frame {
  readonly result: Snapshot;
  readonly receipt: Receipt | null;
}

export interface FrameReaderOptions {
  /** The request that the receipts of frames name; undefined for a stream without receipts. */
  readonly signedRequest: string | undefined;
  /** False on a stream with an interval, where the gateway skips frames by design. */
  readonly expectsEveryFrame: boolean;
  readonly verifyAnswer: VerifyAnswer;
  /** Aborted when the stream is closed: nothing is called back from then on. */
  readonly signal: AbortSignal;
  readonly onSnapshot:
    | ((snapshot: Snapshot, proof: { readonly receipt: Receipt | null; readonly body: string }) => void)
    | undefined;
  readonly onGap: ((gap: Gap) => void) | undefined;
  readonly onError: ((error: unknown) => void) | undefined;
}

/** Reads the frames of the network: verifies them, finds gaps and calls back. */
export class FrameReader {
  readonly #options: FrameReaderOptions;
  readonly #gapDetector: GapDetector;

  constructor(options: FrameReaderOptions) {
    this.#options = options;
    this.#gapDetector = new GapDetector(options.expectsEveryFrame);
  }

  async handle(text: string): Promise<void> {
    const { onSnapshot, onGap, onError, signal } = this.#options;
    const frame = await this.#parse(text).catch((thrown: unknown) => {
      if (!signal.aborted) onError?.(thrown);
    });
    if (frame === undefined || signal.aborted) return;
    const gap = this.#gapDetector.observe(frame.result);
    if (gap === 'duplicate') return;
    if (gap !== undefined) onGap?.(gap);
    onSnapshot?.(frame.result, { receipt: frame.receipt, body: text });
  }

  async #parse(text: string): Promise<Frame> {
    const { signedRequest, verifyAnswer } = this.#options;
    const { result, receipt } =
      signedRequest === undefined
        ? { result: Object(parseExactJson(text)).result, receipt: null }
        : await verifyAnswer<unknown>(text, { request: signedRequest });
    if (!isSnapshot(result)) throw new SlotgateError('unreadable', 'the gateway sent a malformed frame');
    return { result, receipt };
  }
}

/** A frame is trusted as it is, save for the members by which gaps are found. */
const isSnapshot = (result: unknown): result is Snapshot =>
  typeof Object(result).stream === 'string' && Number.isSafeInteger(Object(result).seq);

/** Finds gaps in the sequence numbers of frames, also from one connection to the next. */
class GapDetector {
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
