import type { Clock } from '../domain/clock.ts';
import { COMMITMENTS, type Commitment } from '../domain/commitment.ts';
import type { Lease } from '../domain/lease.ts';
import type { Slot } from '../domain/slot.ts';
import type { Mesh } from '../upstream/mesh/mesh.ts';
import { HotKeyDetector } from './hot-key-detector.ts';
import { IdleEvictingMap } from './idle-evicting-map.ts';
import type { InitialSync } from './initial-sync.ts';
import type { SessionOptions } from './session-audit.ts';
import { type PooledSession, type PoolItem, SessionPool } from './session-pool.ts';

/** Something that is kept live for as long as it is read. */
interface LiveState extends PoolItem {
  readonly lease: Lease | undefined;
  /** The tip at its last reader. */
  readonly tipAtLastRead: Slot;
  /** The tip at which it was found that it can't be kept live; undefined while it may be. */
  readonly tipAtIneligible: Slot | undefined;
}

/** The part of a watch's settings that has nothing to do with what it watches. */
export interface LiveSourceSettings {
  /** What nobody has read for so long is watched no more; what can't be kept live is tried again. */
  readonly idleSlots: number;
  /** How often all that is kept live is read again and compared. */
  readonly auditMs: number;
}

/** What any watch needs. */
export interface LiveSourceOptions<S extends LiveSourceSettings> {
  readonly mesh: Pick<Mesh, 'openSession' | 'tip' | 'onTip'>;
  readonly clock: Clock;
  readonly settings: S;
  /** When silence may be taken for "unchanged". */
  readonly initialSync?: InitialSync;
  /** Called when claims have moved on. */
  readonly onLeasesAdvanced?: () => void;
  readonly onProblem?: (problem: string, facts: object) => void;
}

/** A connection that things are kept live over. */
interface LiveSession<T> extends PooledSession<T> {
  /** The cluster has moved on: is this node still with it? */
  checkLag(commitment: Commitment): void;
  /** Reads again all that is kept live, and compares. Resolves to how many were compared. */
  audit(): Promise<number>;
}

/** What the owner of a watch sees of it: figures, the audit, and its end. */
export interface LiveSetStats {
  /** How many things are watched, or are about to be. */
  readonly size: number;
  /** How many claims were found to be false. It must be 0. */
  readonly leaseViolations: number;
  /** How many were read again and compared. */
  readonly audited: number;
  /** How many connections were lost. */
  readonly lostSessions: number;
  /** Reads all that is kept live again, and compares. Called now and then; a test may call it. */
  audit(): Promise<void>;
  close(): void;
}

export interface LiveSetOptions<T, L> extends Omit<LiveSourceOptions<LiveSourceSettings>, 'initialSync'> {
  /** How many things are watched at a time. */
  readonly maxSize: number;
  createSession(options: SessionOptions<T>): L;
  /** True of what is to be watched though nobody reads it. */
  hasSubscribers?(state: T): boolean;
  /** Names a thing, for the log. */
  describe(state: T): object;
}

/** Chooses what is kept live, finds connections for it, and has it audited: the same for accounts and for lists. */
export class LiveSet<T extends LiveState, L extends LiveSession<T>> implements LiveSetStats {
  readonly #options: LiveSetOptions<T, L>;
  readonly #hotKeys: HotKeyDetector;
  readonly #states: IdleEvictingMap<T>;
  readonly #sessions: SessionPool<T, L>;
  readonly #unsubscribes: (() => void)[];
  #cancelAudit = (): void => {};
  #isClosed = false;
  #leaseViolations = 0;
  #audited = 0;
  #lostSessions = 0;

  constructor(options: LiveSetOptions<T, L>) {
    const { mesh, clock, maxSize, hasSubscribers } = options;
    const { idleSlots } = options.settings;
    this.#options = options;
    this.#hotKeys = new HotKeyDetector(maxSize);
    this.#states = new IdleEvictingMap({
      maxSize,
      isIdle: (state) => {
        const { tipAtIneligible, tipAtLastRead } = state;
        if (tipAtIneligible !== undefined && this.tip - tipAtIneligible > idleSlots) return true;
        return this.tip - tipAtLastRead > idleSlots && !hasSubscribers?.(state);
      },
      onEvict: (state) => this.#sessions.remove(state),
    });
    this.#sessions = new SessionPool(
      () => mesh.openSession(),
      (pubsub) => {
        const session: L = options.createSession({
          pubsub,
          clock,
          tip: (commitment) => mesh.tip(commitment),
          onLeasesAdvanced: () => options.onLeasesAdvanced?.(),
          onLeaseViolation: (state, evidence) => this.#reportViolation(state, { node: pubsub.nodeId, ...evidence }),
          onLost: (state, reason) => this.#onSessionLost(session, state, { node: pubsub.nodeId, reason }),
        });
        return session;
      },
    );
    const tipListener = (commitment: Commitment) => (): void => {
      for (const pubsub of [...this.#sessions.sessions]) pubsub.checkLag(commitment);
      if (commitment === 'processed') this.#states.evictIdle(Math.ceil(this.size / idleSlots));
    };
    this.#unsubscribes = COMMITMENTS.map((commitment) => mesh.onTip(commitment, tipListener(commitment)));
    this.#scheduleAudit();
  }

  get size(): number {
    return this.#states.size;
  }

  get leaseViolations(): number {
    return this.#leaseViolations;
  }

  get audited(): number {
    return this.#audited;
  }

  get lostSessions(): number {
    return this.#lostSessions;
  }

  /** The newest slot of the cluster. */
  get tip(): Slot {
    return this.#options.mesh.tip('processed') ?? 0;
  }

  get(key: string): T | undefined {
    return this.#states.get(key);
  }

  /** Notes that somebody reads what is not watched. When it has become hot, it is from now on. */
  addIfHot(key: string, create: () => T): T | undefined {
    if (this.#options.maxSize === 0) return undefined;
    return this.#hotKeys.recordRead(key, this.tip) ? this.add(key, create) : undefined;
  }

  /** Watches something, unless there is too much already. */
  add(key: string, create: () => T): T | undefined {
    if (this.#isClosed) return undefined;
    const state = this.#states.add(key, create);
    if (state !== undefined) this.#sessions.add(state);
    return state;
  }

  /** Looks for another connection: the one it is on has no room for it. */
  reassign(state: T): void {
    this.#sessions.remove(state);
    this.#sessions.add(state);
  }

  async audit(): Promise<void> {
    for (const session of [...this.#sessions.sessions]) this.#audited += await session.audit();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelAudit();
    for (const unsubscribe of this.#unsubscribes) unsubscribe();
  }

  #reportViolation(state: T, evidence: object): void {
    this.#leaseViolations++;
    const facts = { ...this.#options.describe(state), ...evidence };
    this.#options.onProblem?.('a claimed slot was false: all that came with it is dropped', facts);
  }

  #onSessionLost(session: L, states: Iterable<T>, facts: object): void {
    this.#lostSessions++;
    if (this.#isClosed) return;
    this.#options.onProblem?.('a connection that accounts are watched over was lost', facts);
    this.#sessions.dropSession(session, states);
  }

  #scheduleAudit(): void {
    const { clock, settings } = this.#options;
    this.#cancelAudit = clock.after(settings.auditMs, () => {
      void this.audit().finally(() => {
        if (!this.#isClosed) this.#scheduleAudit();
      });
    });
  }
}
