import type { Clock } from '../domain/clock.ts';
import { COMMITMENTS, type Commitment } from '../domain/commitment.ts';
import type { Slot } from '../domain/slot.ts';
import type { ClockUpdate, PubsubSession } from '../upstream/pubsub/pubsub-session.ts';
import { Watermark } from './watermark.ts';

export interface SessionWatermarksOptions {
  readonly pubsub: PubsubSession;
  readonly clock: Clock;
  /** The newest slot that the whole cluster has shown. */
  tip(commitment: Commitment): Slot | undefined;
  /** A beacon has come, and the mark of its commitment has moved. */
  onClockUpdate(commitment: Commitment, update: ClockUpdate): void;
  /** The connection is lost: no mark will move again. */
  onLost(reason: string): void;
}

/** So far behind the cluster a node is of no use to watch with. */
const DISCONNECT_LAG_SLOTS = 20;

/** How far everything has been told on one connection, at each commitment. */
export class SessionWatermarks {
  readonly #pubsub: PubsubSession;
  readonly #watermarks: Readonly<Record<Commitment, Watermark>>;

  constructor({ pubsub, clock, tip, onClockUpdate, onLost }: SessionWatermarksOptions) {
    this.#pubsub = pubsub;
    const watermark = (commitment: Commitment) => new Watermark(() => tip(commitment));
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

  /** The cluster has moved on: is this node still with it? */
  checkLag(commitment: Commitment): void {
    const watermark = this.#watermarks[commitment];
    watermark.checkLag();
    if (watermark.isBehind && watermark.lagSlots > DISCONNECT_LAG_SLOTS) this.#pubsub.close();
  }

  /** Nothing that came over this connection is served any more. */
  invalidate(): void {
    for (const watermark of Object.values(this.#watermarks)) watermark.invalidate();
  }
}
