import type { Agreement } from '../../shared/domain/agreement.ts';
import type { Clock } from '../../shared/domain/clock.ts';
import { COMMITMENTS, type Commitment } from '../../shared/domain/commitment.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import type { OperatorAgreement } from '../upstream/mesh/mesh.ts';
import type { ClockUpdate, PubsubSession } from '../upstream/pubsub/pubsub-session.ts';
import type { Contradiction } from '../upstream/rpc/facts.ts';
import type { LiveState } from './live-state.ts';
import type { RequestBudget } from './request-budget.ts';
import { Watermark } from './watermark.ts';

/** The lag behind the cluster beyond which a session is closed, so that its states move to another node. */
const DISCONNECT_LAG_SLOTS = 20;

/** A pub/sub session that states are kept live over, and the callbacks of its owner. */
export interface LiveSessionOptions<T> {
  readonly pubsub: PubsubSession;
  readonly clock: Clock;
  tip(commitment: Commitment): Slot | undefined;
  slotTimeMs(): number;
  /** Called after a watermark has advanced, and all leases that rely on it. */
  onLeasesAdvanced(watermark: Watermark): void;
  readonly budget: RequestBudget;
  /** How operators are compared; undefined where there is one, which then audits itself. */
  readonly agreement?: OperatorAgreement | undefined;
  /** Called when the session may be able to accept more. */
  onRoom(): void;
  /** Returns true while states that lost their session wait for their turn on another. */
  isRenewing(): boolean;
  /** The node broke the order that leases rely on, or the gateway did. `dropped` is what isn't served any more. */
  onLeaseViolation(state: T, dropped: 'state' | 'session', evidence: object): void;
  /** Called when something that was kept has turned out to be wrong, or may be. */
  onDenied(): void;
  onWatermarkLost(watermark: Watermark): void;
  onLost(states: Iterable<T>, reason: string): void;
}

export interface AuditRead {
  readonly slot: Slot;
  /** Whether both may be true. Of two operators, whose parsers may differ, this is less than {@link isSame}. */
  isUnchanged(): boolean;
  /** Whether both are the same in all that is shown. Default: as {@link isUnchanged}. */
  isSame?(): boolean;
  /** Returns the digests of what contradicts each other in the state that is kept and in the re-read, for the log. */
  contradiction?(): Contradiction | undefined;
  /**
   * Reads the state of several operators, where another one than that of the session has re-read it; undefined if they don't
   * decide. Absent where the re-read itself is decisive.
   */
  settle?(): Promise<AuditRead | undefined>;
}

/** A state that a session may hold a lease for. */
export type AuditedState = Pick<LiveState, 'slot' | 'coveredSlot' | 'reset' | 'invalidate' | 'confirm'>;

interface Mismatch<T> {
  readonly state: T;
  readonly read: AuditRead;
}

/** Returns the agreement of the operators of a session and of its witness. */
const witnessedAt = (slot: Slot, needed: number): Agreement => ({ slot, agreed: 2, read: Math.max(2, needed), needed });

export interface SessionAuditOptions<T> {
  readonly session: LiveSessionOptions<T>;
  awaitTurn(): Promise<void>;
  /** Returns all states that are kept live over the session, those first whose turn was longest ago. */
  states(): Iterable<T>;
  /** Returns the states that can be re-read together, of those with a lease, at most `count`, and puts them last. */
  nextBatch(count: number): readonly T[];
  /** Reads states again from a node of another operator, or from the same node where there is one operator. Gives undefined for one that can't be compared. */
  reread(batch: readonly T[]): Promise<readonly (AuditRead | undefined)[]>;
  restart(state: T): void;
  /** Called with each Clock update, after the watermark of its commitment has advanced. */
  onClockUpdate(commitment: Commitment, update: ClockUpdate): void;
  onLost(): void;
}

/** The watermarks of one session, and the audit of the leases that rely on them. */
export class SessionAudit<T extends AuditedState> {
  readonly #options: SessionAuditOptions<T>;
  readonly #watermarks: Readonly<Record<Commitment, Watermark>>;
  /**
   * The differences that an audit has found and nobody has explained yet. Each may be a notification on its way. It is a
   * violation if the state still differs once it is known to hold at the slot of the re-read (I9).
   */
  #mismatches: Mismatch<T>[] = [];
  #violations = 0;

  constructor(options: SessionAuditOptions<T>) {
    const { session, states, onClockUpdate } = options;
    this.#options = options;
    const watermark = (commitment: Commitment) =>
      new Watermark(
        () => session.tip(commitment),
        () => session.isRenewing(),
        session.pubsub.nodeId,
        (slot) => session.pubsub.parentOf(slot),
      );
    this.#watermarks = {
      processed: watermark('processed'),
      confirmed: watermark('confirmed'),
      finalized: watermark('finalized'),
    };
    for (const commitment of COMMITMENTS) {
      session.pubsub.onClockUpdate(commitment, (update) => {
        const advanced = this.watermarkOf(commitment);
        advanced.advance(update.previous, session.clock.monotonic(), update.slot);
        onClockUpdate(commitment, update);
        this.#checkMismatches();
        if (commitment !== 'processed') session.onLeasesAdvanced(advanced);
      });
    }
    session.pubsub.onAnswered(() => session.onRoom());
    session.pubsub.onLost((reason) => {
      const lost = Object.values(this.#watermarks);
      for (const each of lost) each.markLost();
      const lostStates = [...states()];
      this.#mismatches = [];
      for (const each of lost) session.onWatermarkLost(each);
      options.onLost();
      session.onLost(lostStates, reason);
    });
  }

  watermarkOf(commitment: Commitment): Watermark {
    return this.#watermarks[commitment];
  }

  /** Compares the session with the cluster's tip; closes it when it lags too far. Called when the tip has advanced. */
  checkLag(commitment: Commitment): void {
    const watermark = this.watermarkOf(commitment);
    watermark.checkLag();
    if (watermark.isBehind && watermark.lagSlots > DISCONNECT_LAG_SLOTS) this.#options.session.pubsub.close();
  }

  /** At most `maxStates`, batch by batch, those first whose last audit is longest ago. Resolves to how many. */
  async audit(maxStates: number): Promise<number> {
    const { session, states, awaitTurn, nextBatch } = this.#options;
    const audits: Promise<number>[] = [];
    let leased = 0;
    for (const { coveredSlot } of states()) if (coveredSlot !== undefined) leased++;
    for (let left = Math.min(maxStates, leased); left > 0; ) {
      await awaitTurn();
      const batch = session.pubsub.isLost ? [] : nextBatch(left);
      if (batch.length === 0) break;
      left -= batch.length;
      audits.push(this.#auditBatch(batch).catch(() => 0)); // what a node sent can't be compared; nobody waits for it yet
    }
    return (await Promise.all(audits)).reduce((sum, count) => sum + count, 0);
  }

  /** Ends the session of a node that is not believed any more: no state that was kept over it is served. */
  distrust(): void {
    const { session, states } = this.#options;
    for (const watermark of Object.values(this.#watermarks)) watermark.invalidate();
    for (const state of states()) state.reset();
    session.onDenied();
    session.pubsub.close();
  }

  /** Ends the session after a lease violation: no state that was kept over it is served any more. */
  invalidate(violated: T, evidence: object): void {
    this.#options.session.onLeaseViolation(violated, 'session', evidence);
    this.distrust();
  }

  async #auditBatch(batch: readonly T[]): Promise<number> {
    const { agreement } = this.#options.session;
    const reads = await this.#options.reread(batch).catch(() => []); // the node doesn't answer now; the next audit tries again
    let count = 0;
    for (const [i, state] of batch.entries()) {
      const read = reads[i];
      if (read === undefined || state.coveredSlot === undefined || read.slot < state.slot) continue; // older than the state
      count++;
      if (!read.isUnchanged()) this.#mismatches.push({ state, read });
      else if (agreement !== undefined && read.isSame?.() !== false)
        state.confirm(witnessedAt(read.slot, agreement.needed));
    }
    this.#checkMismatches();
    return count;
  }

  /**
   * Lets operators decide about a state that another operator contradicts. Where they don't, the state is forgotten: nobody
   * knows which of them is wrong.
   */
  async #settle(state: T, settle: () => Promise<AuditRead | undefined>): Promise<void> {
    const decided = await settle().catch(() => undefined);
    if (this.#options.session.pubsub.isLost || state.coveredSlot === undefined) return;
    if (decided !== undefined) {
      if (decided.slot >= state.slot && !decided.isUnchanged()) this.#mismatches.push({ state, read: decided });
      this.#checkMismatches();
    } else this.#forget(state);
  }

  /** The first state that an audit finds wrong is forgotten alone; with a second one nothing of the session is believed. */
  #checkMismatches(): void {
    for (const { state, read } of this.#dequeueViolations()) {
      const { pubsub, agreement } = this.#options.session;
      if (pubsub.isLost) return;
      const evidence = { from: state.slot, leased: state.coveredSlot, read: read.slot };
      if (read.settle !== undefined) {
        void this.#settle(state, read.settle).catch(() => this.#forget(state));
        continue;
      }
      agreement?.disagreements.record({
        nodeId: pubsub.nodeId,
        what: 'what is kept live',
        slot: read.slot,
        ...read.contradiction?.(),
      });
      if (pubsub.isLost) return; // the node is quarantined
      if (++this.#violations > 1) this.invalidate(state, evidence);
      else {
        this.#options.session.onLeaseViolation(state, 'state', evidence);
        this.#forget(state);
      }
    }
  }

  /** Drops mismatches that can be explained, and violations; returns the latter. */
  #dequeueViolations(): readonly Mismatch<T>[] {
    if (this.#mismatches.length === 0) return [];
    const comparable = this.#mismatches.filter(
      ({ state, read }) => state.coveredSlot !== undefined && state.slot <= read.slot,
    );
    const isDue = ({ state, read }: Mismatch<T>): boolean =>
      state.coveredSlot !== undefined && state.coveredSlot >= read.slot;
    this.#mismatches = comparable.filter((mismatch) => !isDue(mismatch));
    return comparable.filter((mismatch) => isDue(mismatch) && !mismatch.read.isUnchanged());
  }

  #forget(state: T): void {
    state.invalidate();
    this.#options.restart(state);
    this.#options.session.onDenied();
  }
}
