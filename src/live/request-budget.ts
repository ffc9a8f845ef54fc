import type { Clock } from '../domain/clock.ts';
import type { PubsubSession } from '../upstream/pubsub/pubsub-session.ts';

/** What a request is for: the initial sync of accounts and lists, or their audit. */
export type BudgetedWork = 'sync' | 'audit';

/** The span in which no more than a second's requests are made: they arrive in less time than they were sent in. */
const WINDOW_MS = 1050;

/** The part of a second's requests that may be made at once. */
const BURST_PART = 0.25;

/** The part of all requests that audits may make; the initial sync may use what they leave. */
const AUDIT_PART = 0.5;

/** A pooled node has many users, and limits each: it gets this part of the requests. */
const POOLED_PART = 0.1;

/** At most so many events in {@link WINDOW_MS}. */
class Pace {
  readonly #times: Float64Array;
  #next = 0;

  constructor(count: number) {
    this.#times = new Float64Array(count).fill(Number.NEGATIVE_INFINITY);
  }

  waitMs(nowMs: number): number {
    return Math.max(0, (this.#times[this.#next] ?? 0) + WINDOW_MS - nowMs);
  }

  record(nowMs: number): void {
    this.#times[this.#next] = nowMs;
    this.#next = (this.#next + 1) % this.#times.length;
  }
}

/**
 * Paces the requests with which accounts and lists of one node come to be live and are audited, so that a restart with
 * very many of them is no flood. At most `perSecond` are made in any second, most of them evenly spread.
 */
export class RequestBudget {
  readonly perSecond: number;
  readonly #clock: Clock;
  readonly #pace: Pace;
  readonly #auditPace: Pace;
  readonly #burst: number;
  readonly #waiting: Readonly<Record<BudgetedWork, (() => void)[]>> = { sync: [], audit: [] };
  /** The requests that may be made now, as of {@link #refilledMs}. */
  #tokens: number;
  #refilledMs: number;
  #cancelTimer: (() => void) | undefined;

  constructor(clock: Clock, perSecond: number) {
    this.#clock = clock;
    this.perSecond = perSecond;
    this.#pace = new Pace(perSecond);
    this.#auditPace = new Pace(Math.ceil(perSecond * AUDIT_PART));
    this.#burst = Math.max(1, Math.floor(perSecond * BURST_PART));
    this.#tokens = this.#burst;
    this.#refilledMs = clock.monotonic();
  }

  /** Resolves when a request may be made. Audits come first, within their part. */
  take(work: BudgetedWork): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting[work].push(resolve);
      this.#grant();
    });
  }

  /** Ends the wait of all. */
  close(): void {
    this.#cancelTimer?.();
  }

  #grant(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const { sync, audit } = this.#waiting;
    while (sync.length + audit.length > 0) {
      const nowMs = this.#clock.monotonic();
      const auditWaitMs = audit.length > 0 ? this.#auditPace.waitMs(nowMs) : Number.POSITIVE_INFINITY;
      const isAudit = auditWaitMs <= 0;
      const waitMs = Math.max(this.#waitMs(nowMs), isAudit || sync.length > 0 ? 0 : auditWaitMs);
      if (waitMs > 0) {
        this.#cancelTimer = this.#clock.after(Math.ceil(waitMs), () => this.#grant());
        return;
      }
      this.#tokens--;
      this.#pace.record(nowMs);
      if (isAudit) this.#auditPace.record(nowMs);
      (isAudit ? audit : sync).shift()?.();
    }
  }

  #waitMs(nowMs: number): number {
    this.#tokens = Math.min(this.#burst, this.#tokens + ((nowMs - this.#refilledMs) * this.perSecond) / 1000);
    this.#refilledMs = nowMs;
    const tokenWaitMs = this.#tokens >= 1 ? 0 : ((1 - this.#tokens) * 1000) / this.perSecond;
    return Math.max(tokenWaitMs, this.#pace.waitMs(nowMs));
  }
}

/** The budgets of all nodes: what keeps accounts and what keeps lists live shares them. */
export class RequestBudgets {
  readonly #clock: Clock;
  readonly #perSecond: number;
  readonly #budgets = new Map<string, RequestBudget>();

  constructor(clock: Clock, perSecond: number) {
    this.#clock = clock;
    this.#perSecond = perSecond;
  }

  /** Returns the budget of a session's node. */
  of({ nodeId, isPooled }: Pick<PubsubSession, 'nodeId' | 'isPooled'>): RequestBudget {
    const known = this.#budgets.get(nodeId);
    if (known !== undefined) return known;
    const perSecond = isPooled ? Math.max(1, Math.floor(this.#perSecond * POOLED_PART)) : this.#perSecond;
    const budget = new RequestBudget(this.#clock, perSecond);
    this.#budgets.set(nodeId, budget);
    return budget;
  }

  close(): void {
    for (const budget of this.#budgets.values()) budget.close();
  }
}
