import type { Clock } from '../domain/clock.ts';
import { COMMITMENTS, type Commitment } from '../domain/commitment.ts';
import type { Slot } from '../domain/slot.ts';
import type { ClockUpdate, PubsubSession } from '../upstream/pubsub/pubsub-session.ts';
import { Watermark } from './watermark.ts';

export interface SessionWatermarksOptions {
  readonly pubsub: PubsubSession;
  readonly clock: Clock;
  /** Returns the newest slot that any node has reported at a commitment. */
  tip(commitment: Commitment): Slot | undefined;
  /** Returns true while states that lost their session wait for their turn on another. */
  isRenewing(): boolean;
  /** Called with each Clock update, after the watermark of its commitment has advanced. */
  onClockUpdate(commitment: Commitment, update: ClockUpdate): void;
  /** Called when the session is lost: no watermark advances again. */
  onLost(reason: string): void;
}

/** The lag behind the cluster beyond which a session is closed, so that its states move to another node. */
const DISCONNECT_LAG_SLOTS = 20;

/** The watermarks of one session, one per commitment. */
export class SessionWatermarks {
  readonly #pubsub: PubsubSession;
  readonly #watermarks: Readonly<Record<Commitment, Watermark>>;

  constructor({ pubsub, clock, tip, isRenewing, onClockUpdate, onLost }: SessionWatermarksOptions) {
    this.#pubsub = pubsub;
    const watermark = (commitment: Commitment) => new Watermark(() => tip(commitment), isRenewing);
    this.#watermarks = {
      processed: watermark('processed'),
      confirmed: watermark('confirmed'),
      finalized: watermark('finalized'),
    };
    for (const commitment of COMMITMENTS) {
      pubsub.onClockUpdate(commitment, (update) => {
        this.#watermarks[commitment].advance(update.previous, clock.monotonic());
        onClockUpdate(commitment, update);
      });
    }
    pubsub.onLost((reason) => {
      for (const watermark of Object.values(this.#watermarks)) watermark.markLost();
      onLost(reason);
    });
  }

  of(commitment: Commitment): Watermark {
    return this.#watermarks[commitment];
  }

  /** Compares a watermark with the cluster's tip; closes the session when it lags too far. */
  checkLag(commitment: Commitment): void {
    const watermark = this.#watermarks[commitment];
    watermark.checkLag();
    if (watermark.isBehind && watermark.lagSlots > DISCONNECT_LAG_SLOTS) this.#pubsub.close();
  }

  /** Invalidates all watermarks, and with them every lease of the session. */
  invalidate(): void {
    for (const watermark of Object.values(this.#watermarks)) watermark.invalidate();
  }
}
