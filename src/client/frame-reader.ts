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
  /** The newest frame, also of an earlier connection. */
  #last: Snapshot | undefined;

  constructor(options: FrameReaderOptions) {
    this.#options = options;
  }

  async handle(text: string): Promise<void> {
    const { expectsEveryFrame, onSnapshot, onGap, onError, signal } = this.#options;
    const frame = await this.#parse(text).catch((thrown: unknown) => {
      if (!signal.aborted) onError?.(thrown);
    });
    if (frame === undefined || signal.aborted) return;
    const { result, receipt } = frame;
    const last = this.#last;
    const isSameStream = last?.stream === result.stream;
    if (last !== undefined && isSameStream && result.seq <= last.seq) return; // it is not newer
    this.#last = result;
    const missed = isSameStream ? result.seq - last.seq - 1 : null;
    if (last !== undefined && (missed === null || (missed > 0 && expectsEveryFrame)))
      onGap?.({ missed, after: last, before: result });
    onSnapshot?.(result, { receipt, body: text });
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
