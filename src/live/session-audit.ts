import type { Clock } from '../domain/clock.ts';
import type { Commitment } from '../domain/commitment.ts';
import type { Slot } from '../domain/slot.ts';
import type { ClockUpdate, PubsubSession } from '../upstream/pubsub/pubsub-session.ts';
import { AuditMismatches, type AuditRead, type LeasedState } from './audit-mismatches.ts';
import { SessionWatermarks } from './session-watermarks.ts';
import type { Watermark } from './watermark.ts';

/** A pub/sub session that states are kept live over, and the callbacks of its owner. */
export interface LiveSessionOptions<T> {
  readonly pubsub: PubsubSession;
  readonly clock: Clock;
  /** Returns the newest slot that any node has reported at a commitment. */
  tip(commitment: Commitment): Slot | undefined;
  /** Called after a watermark has advanced, and all leases that rely on it. */
  onLeasesAdvanced(watermark: Watermark): void;
  /** Called with the slots that show a violation: the node broke the order that leases rely on, or the gateway did. */
  onLeaseViolation(state: T, evidence: object): void;
  onLost(states: Iterable<T>, reason: string): void;
}

/** A state that a session may hold a lease for. */
export interface AuditedState extends LeasedState {
  /** Forgets the state: it turned out to be wrong. */
  reset(): void;
}

export interface SessionAuditOptions<T> {
  readonly session: LiveSessionOptions<T>;
  /** Returns all states that are kept live over the session. */
  states(): Iterable<T>;
  /** Reads a state again from the same node. Resolves to undefined when the read can't be compared. */
  reread(state: T): Promise<AuditRead | undefined>;
  /** Called with each Clock update, after the watermark of its commitment has advanced. */
  onClockUpdate(commitment: Commitment, update: ClockUpdate): void;
  onLost(): void;
}

/** The watermarks of one session, and the audit of the leases that rely on them. */
export class SessionAudit<T extends AuditedState> {
  readonly #options: SessionAuditOptions<T>;
  readonly #watermarks: SessionWatermarks;
  readonly #mismatches = new AuditMismatches<T>();
  /** The place of each state in the order of audits. */
  readonly #turns = new WeakMap<T, number>();
  #lastTurn = 0;

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
        if (commitment !== 'processed') session.onLeasesAdvanced(this.#watermarks.of(commitment));
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

  /** Compares the session with the cluster's tip; called when the tip has advanced. */
  checkLag(commitment: Commitment): void {
    this.#watermarks.checkLag(commitment);
  }

  /**
   * Re-reads states that have a lease and compares them: at most `maxStates`, those first whose last audit is longest ago.
   * A new state has its turn after all others, so that each has one in time, however many are added. Resolves to the number of states that were compared.
   */
  async audit(maxStates: number): Promise<number> {
    const leased = [...this.#options.states()].filter(({ coveredSlot }) => coveredSlot !== undefined);
    for (const state of leased) if (!this.#turns.has(state)) this.#turns.set(state, ++this.#lastTurn);
    const turn = (state: T): number => this.#turns.get(state) ?? 0; // each has one
    const chosen = leased.sort((a, b) => turn(a) - turn(b)).slice(0, maxStates);
    for (const state of chosen) this.#turns.set(state, ++this.#lastTurn);
    const compared = await Promise.all(chosen.map((state) => this.#auditState(state)));
    return compared.filter((isCompared) => isCompared).length;
  }

  /** Ends the session after a lease violation: no state that was kept over it is served any more. */
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
      if (reread === undefined || state.coveredSlot === undefined || reread.slot < state.slot) return false; // older than the state
      if (reread.isUnchanged()) return true;
      this.#mismatches.add(state, reread);
      this.#checkMismatches();
      return true;
    } catch {
      return false; // the node doesn't answer now; the next audit tries again
    }
  }

  #checkMismatches(): void {
    const violation = this.#mismatches.findViolation();
    if (violation !== undefined) this.invalidate(violation.state, violation.evidence);
  }
}
