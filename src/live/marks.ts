import type { Clock } from '../domain/clock.ts';
import { COMMITMENTS, type Commitment } from '../domain/commitment.ts';
import type { Slot } from '../domain/slot.ts';
import type { ClockUpdate, PubsubSession } from '../upstream/pubsub/pubsub-session.ts';
import { Watermark } from './watermark.ts';

export interface MarksOptions {
  readonly line: PubsubSession;
  readonly clock: Clock;
  /** The newest slot that the whole cluster has shown. */
  tip(commitment: Commitment): Slot | undefined;
  /** A beacon has come, and the mark of its commitment has moved. */
  onBeat(commitment: Commitment, beacon: ClockUpdate): void;
  /** The connection is lost: no mark will move again. */
  onLost(reason: string): void;
}

/** So far behind the cluster a node is of no use to watch with. */
const FAR_SLOTS = 20;

/** How far everything has been told on one connection, at each commitment. */
export class Marks {
  readonly #line: PubsubSession;
  readonly #marks: Readonly<Record<Commitment, Watermark>>;

  constructor({ line, clock, tip, onBeat, onLost }: MarksOptions) {
    this.#line = line;
    const mark = (commitment: Commitment) => new Watermark(() => tip(commitment));
    this.#marks = { processed: mark('processed'), confirmed: mark('confirmed'), finalized: mark('finalized') };
    for (const commitment of COMMITMENTS) {
      line.onClockUpdate(commitment, (beacon) => {
        this.#marks[commitment].move(beacon.previous, clock.monotonic());
        onBeat(commitment, beacon);
      });
    }
    line.onLost((reason) => {
      for (const mark of Object.values(this.#marks)) mark.lose();
      onLost(reason);
    });
  }

  of(commitment: Commitment): Watermark {
    return this.#marks[commitment];
  }

  /** The cluster has moved on: is this node still with it? */
  compare(commitment: Commitment): void {
    const mark = this.#marks[commitment];
    mark.compare();
    if (mark.behind && mark.behindSlots > FAR_SLOTS) this.#line.close();
  }

  /** Nothing that came over this connection is served any more. */
  disown(): void {
    for (const mark of Object.values(this.#marks)) mark.disown();
  }
}
