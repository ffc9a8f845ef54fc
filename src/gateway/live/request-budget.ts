import type { Clock } from '../../shared/domain/clock.ts';
import { GatewayError } from '../../shared/domain/gateway-error.ts';
import type { PubsubSession } from '../upstream/pubsub/pubsub-session.ts';
import { rpcFaultOf } from '../upstream/rpc/error-normalizer.ts';
import type { RpcCaller } from '../upstream/rpc/rpc-response.ts';

/** What a request is for: the initial sync of accounts and lists, or their audit. */
export type BudgetedWork = 'sync' | 'audit';

/** The span in which no more than a second's requests are made: they arrive in less time than they were sent in. */
const WINDOW_MS = 1050;

/** The part of a second's requests that may be made in one burst. */
const BURST_PART = 0.25;

/** The part of all requests that audits may make; the initial sync may use what they leave. */
const AUDIT_PART = 0.5;

/** A pooled node has many users, and limits each: it gets this part of the requests. */
const POOLED_PART = 0.1;

/** The requests a second to begin with, where they are learned: no provider known accepts fewer. */
export const FIRST_PER_SECOND = 20;

/** The most that are learned: the gateway would parse 20,000 accounts in a second, a fifth of its time. */
const MAX_PER_SECOND = 200;

/** The factors until the first refusal: the requests double in each second that uses them up, which may be too much. */
const FIRST_INCREASE = 2;
const FIRST_DECREASE = 0.5;

/** The factors afterwards (additive increase, multiplicative decrease), and the time from a refusal to an increase. */
const INCREASE = 1.1;
const DECREASE = 0.9;
const REFUSED_MS = 10_000;

/** The part of a second's requests that may wait for their answers where they are increased: more are late. */
const LATE_PART = 0.25;

/** The part of a second's requests that uses them up. */
const USED_PART = 0.8;

/** At most a number of events in {@link WINDOW_MS}. */
class Pace {
  readonly #times: Float64Array;
  #next = 0;

  constructor(mostCount: number) {
    this.#times = new Float64Array(mostCount).fill(Number.NEGATIVE_INFINITY);
  }

  /** Returns the milliseconds until there are fewer than `count` in the window; 0 if now. */
  waitMs(nowMs: number, count: number): number {
    const { length } = this.#times;
    const time = this.#times[(this.#next - count + length) % length];
    return Math.max(0, (time ?? 0) + WINDOW_MS - nowMs);
  }

  record(nowMs: number): void {
    this.#times[this.#next] = nowMs;
    this.#next = (this.#next + 1) % this.#times.length;
  }
}

/**
 * Paces the requests with which accounts and lists of one node come to be live and are audited, so that a restart with
 * very many of them is no flood. At most {@link perSecond} are made in any second, most of them evenly spread. Where their
 * number is not set, it is learned from what the node refuses, and how late it answers.
 */
export class RequestBudget {
  readonly #isLearned: boolean;
  #perSecond: number;
  readonly #clock: Clock;
  readonly #pace: Pace;
  readonly #auditPace: Pace;
  readonly #waiting: Readonly<Record<BudgetedWork, (() => void)[]>> = { sync: [], audit: [] };
  /** The requests that may be made now, as of {@link #refilledMs}. */
  #tokens: number;
  #refilledMs: number;
  #cancelTimer: (() => void) | undefined;
  #inFlight = 0;
  #changedMs: number;
  #wasRefused = false;

  /** `perSecond` is null for what the node sustains. */
  constructor(clock: Clock, perSecond: number | null) {
    this.#clock = clock;
    this.#isLearned = perSecond === null;
    this.#perSecond = perSecond ?? FIRST_PER_SECOND;
    const most = perSecond ?? MAX_PER_SECOND;
    this.#pace = new Pace(most);
    this.#auditPace = new Pace(auditsOf(most));
    this.#tokens = this.#burst;
    this.#refilledMs = clock.monotonic();
    this.#changedMs = this.#refilledMs;
  }

  get perSecond(): number {
    return this.#perSecond;
  }

  get #burst(): number {
    return Math.max(1, Math.floor(this.#perSecond * BURST_PART));
  }

  async make<T>(request: () => Promise<T>): Promise<T> {
    this.#inFlight++;
    try {
      return await request();
    } catch (thrown) {
      if (thrown instanceof GatewayError && isRefusal(thrown)) this.#lower();
      throw thrown;
    } finally {
      this.#inFlight--;
    }
  }

  /** Returns a caller each of whose calls waits for its turn. */
  pacing(rpc: RpcCaller, work: BudgetedWork): RpcCaller {
    return {
      call: async (...args) => {
        await this.acquire(work);
        return this.make(() => rpc.call(...args));
      },
    };
  }

  /** Resolves when a request may be made. Audits come first, within their part. */
  acquire(work: BudgetedWork): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting[work].push(resolve);
      this.#grant();
    });
  }

  close(): void {
    this.#cancelTimer?.();
  }

  #grant(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const { sync, audit } = this.#waiting;
    while (sync.length + audit.length > 0) {
      const nowMs = this.#clock.monotonic();
      const audits = auditsOf(this.#perSecond);
      const auditWaitMs = audit.length > 0 ? this.#auditPace.waitMs(nowMs, audits) : Number.POSITIVE_INFINITY;
      const isAudit = auditWaitMs <= 0;
      const waitMs = Math.max(this.#waitMs(nowMs), isAudit || sync.length > 0 ? 0 : auditWaitMs);
      if (waitMs > 0) {
        if (this.#raise(nowMs)) continue;
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
    this.#tokens = Math.min(this.#burst, this.#tokens + ((nowMs - this.#refilledMs) * this.#perSecond) / 1000);
    this.#refilledMs = nowMs;
    const tokenWaitMs = this.#tokens >= 1 ? 0 : ((1 - this.#tokens) * 1000) / this.#perSecond;
    return Math.max(tokenWaitMs, this.#pace.waitMs(nowMs, this.#perSecond));
  }

  /** Raises the number of requests once a window has used it up, and was answered in time. Returns whether it has. */
  #raise(nowMs: number): boolean {
    const isUsedUp = this.#pace.waitMs(nowMs, Math.ceil(this.#perSecond * USED_PART)) > 0;
    const isEarly = nowMs - this.#changedMs < (this.#wasRefused ? REFUSED_MS : WINDOW_MS);
    const isLate = this.#inFlight > this.#perSecond * LATE_PART;
    if (!this.#isLearned || !isUsedUp || isEarly || isLate || this.#perSecond >= MAX_PER_SECOND) return false;
    const raised = Math.ceil(this.#perSecond * (this.#wasRefused ? INCREASE : FIRST_INCREASE));
    this.#perSecond = Math.min(MAX_PER_SECOND, raised);
    this.#changedMs = nowMs;
    return true;
  }

  /** Lowers the number of requests after a refusal; those of one window count as one. */
  #lower(): void {
    const nowMs = this.#clock.monotonic();
    if (!this.#isLearned || (this.#wasRefused && nowMs - this.#changedMs < WINDOW_MS)) return;
    const factor = this.#wasRefused ? DECREASE : FIRST_DECREASE;
    this.#perSecond = Math.max(pooledPartOf(FIRST_PER_SECOND), Math.floor(this.#perSecond * factor));
    this.#wasRefused = true;
    this.#changedMs = nowMs;
  }
}

const auditsOf = (perSecond: number): number => Math.ceil(perSecond * AUDIT_PART);

const pooledPartOf = (perSecond: number): number => Math.max(1, Math.floor(perSecond * POOLED_PART));

/** Returns true for the failure of a request that may have been one too many. */
const isRefusal = (error: GatewayError): boolean =>
  error.code === 'overloaded' || error.code === 'upstream_timeout' || rpcFaultOf(error) === 'rate-limit';

/** The budgets of all nodes: what keeps accounts and what keeps lists live shares them. */
export class RequestBudgets {
  readonly #clock: Clock;
  readonly #perSecond: number | null;
  readonly #budgets = new Map<string, RequestBudget>();

  /** `perSecond` is null for what each node sustains; a pooled one then has its part of the first ones. */
  constructor(clock: Clock, perSecond: number | null) {
    this.#clock = clock;
    this.#perSecond = perSecond;
  }

  of({ nodeId, isPooled }: Pick<PubsubSession, 'nodeId' | 'isPooled'>): RequestBudget {
    const known = this.#budgets.get(nodeId);
    if (known !== undefined) return known;
    const perSecond = isPooled ? pooledPartOf(this.#perSecond ?? FIRST_PER_SECOND) : this.#perSecond;
    const budget = new RequestBudget(this.#clock, perSecond);
    this.#budgets.set(nodeId, budget);
    return budget;
  }

  close(): void {
    for (const budget of this.#budgets.values()) budget.close();
  }
}
