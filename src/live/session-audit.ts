import type { Clock } from '../domain/clock.ts';
import type { Commitment } from '../domain/commitment.ts';
import type { Slot } from '../domain/slot.ts';
import type { ClockUpdate, PubsubSession } from '../upstream/pubsub/pubsub-session.ts';
import { AuditMismatches, type LeasedState } from './audit-mismatches.ts';
import { SessionWatermarks } from './session-watermarks.ts';
import type { Watermark } from './watermark.ts';

/** A connection that things are watched over, and whom it serves. */
export interface SessionOptions<T> {
  readonly pubsub: PubsubSession;
  readonly clock: Clock;
  /** The newest slot that the whole cluster has shown. */
  tip(commitment: Commitment): Slot | undefined;
  /** The proofs of all that is watched at a commitment have moved on. */
  onLeasesAdvanced(): void;
  /** A claim was false, as these slots show: the node broke the order that the claims rest on, or we did. */
  onLeaseViolation(state: T, evidence: object): void;
  onLost(states: Iterable<T>, reason: string): void;
}

/** Something that a connection claims slots for. */
export interface AuditedState extends LeasedState {
  /** What was known of it turned out to be wrong. */
  reset(): void;
}

/** A reading beside what is kept. */
export interface AuditRead {
  readonly slot: Slot;
  /** Does it say the same as what is kept now? */
  isUnchanged(): boolean;
}

export interface SessionAuditOptions<T> {
  readonly session: SessionOptions<T>;
  /** All that is watched over the connection. */
  states(): Iterable<T>;
  /** Reads something again from the same node. Resolves to undefined when that tells nothing. */
  reread(state: T): Promise<AuditRead | undefined>;
  /** A beacon has come: what is watched may have something to do. */
  onClockUpdate(commitment: Commitment, update: ClockUpdate): void;
  onLost(): void;
}

/** What is claimed over one connection: how far it has been told of, and whether that was right. */
export class SessionAudit<T extends AuditedState> {
  readonly #options: SessionAuditOptions<T>;
  readonly #watermarks: SessionWatermarks;
  readonly #mismatches = new AuditMismatches<T>();

  constructor(options: SessionAuditOptions<T>) {
    const { session, states, onClockUpdate } = options;
    this.#options = options;
    this.#watermarks = new SessionWatermarks({
      pubsub: session.pubsub,
      clock: session.clock,
      tip: (commitment) => session.tip(commitment),
      onClockUpdate: (commitment, update) => {
        onClockUpdate(commitment, update);
        this.#checkMismatches();
        if (commitment !== 'processed') session.onLeasesAdvanced();
      },
      onLost: (reason) => {
        const lostStates = [...states()];
        this.#mismatches.clear();
        options.onLost();
        session.onLost(lostStates, reason);
      },
    });
  }

  watermarkOf(commitment: Commitment): Watermark {
    return this.#watermarks.of(commitment);
  }

  /** The cluster has moved on: is this node still with it? */
  checkLag(commitment: Commitment): void {
    this.#watermarks.checkLag(commitment);
  }

  /** Reads again all that is kept live, and compares. Resolves to how many were compared. */
  async audit(): Promise<number> {
    const leased = [...this.#options.states()].filter(({ lease }) => lease !== undefined);
    const compared = await Promise.all(leased.map((state) => this.#auditState(state)));
    return compared.filter((isCompared) => isCompared).length;
  }

  /** A claim was false, as these slots show: nothing that was kept over this connection is served any more. */
  invalidate(violated: T, evidence: object): void {
    const { session, states } = this.#options;
    this.#watermarks.invalidate();
    for (const state of states()) state.reset();
    session.onLeaseViolation(violated, evidence);
    session.pubsub.close();
  }

  async #auditState(state: T): Promise<boolean> {
    try {
      const reread = await this.#options.reread(state);
      if (reread === undefined || state.lease === undefined || reread.slot < state.slot) return false; // read before it
      if (reread.isUnchanged()) return true;
      this.#mismatches.add(state, reread.slot);
      this.#checkMismatches();
      return true;
    } catch {
      return false; // the node may not answer now; the next audit comes
    }
  }

  #checkMismatches(): void {
    const violation = this.#mismatches.findViolation();
    if (violation !== undefined) this.invalidate(violation.state, violation.evidence);
  }
}
