import type { Config } from '../../config/config-schema.ts';
import type { Clock } from '../../shared/domain/clock.ts';
import type { Commitment } from '../../shared/domain/commitment.ts';
import type { LeaseSource } from '../../shared/domain/lease.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import { TARGET_SLOT_MS } from '../../shared/domain/slot-time.ts';
import { Deferred } from '../../shared/runtime/deferred.ts';
import type { Mesh } from '../upstream/mesh/mesh.ts';
import type { PubsubSession } from '../upstream/pubsub/pubsub-session.ts';
import { FollowedSession, type FollowedSessionOptions, type ReadRate } from './followed-session.ts';
import { HotKeyDetector } from './hot-key-detector.ts';
import { doubleRead, type InitialSync } from './initial-sync.ts';
import { type LiveObserver, type LiveRules, type LiveState, liveKeyOf, ownKeyOf } from './live-state.ts';
import { Places } from './places.ts';
import { absorbReads, type ReadHeat } from './read-heat.ts';
import { FIRST_PER_SECOND, RequestBudgets } from './request-budget.ts';
import type { LiveSessionOptions, SessionAudit } from './session-audit.ts';
import { type PooledSession, SessionPool } from './session-pool.ts';

export type LiveSourceSettings = Pick<Config['live'], 'idleMs' | 'auditMs' | 'callerShare' | 'requestsPerSecond'>;

export interface LiveSourceOptions<S extends LiveSourceSettings> {
  readonly mesh: Pick<Mesh, 'openSession' | 'tip' | 'slotTimeMs' | 'agreement'>;
  readonly clock: Clock;
  /** Gives the seeds of hashes that nobody outside may know. */
  readonly random: () => number;
  readonly settings: S;
  /** The requests that the initial sync and audits may make, shared by all that is kept live. Default: its own. */
  readonly budgets?: RequestBudgets;
  /** The rule that decides from when on silence means "unchanged". Default: {@link doubleRead}. */
  readonly initialSync?: InitialSync;
  /** Called after the leases of a source have advanced to a newer slot. */
  readonly onLeasesAdvanced?: (source: LeaseSource) => void;
  /** Called when something that was kept live has turned out to be wrong, or may be. */
  readonly onDenied?: () => void;
  readonly onProblem?: (problem: string, facts: object) => void;
}

interface LiveSession<T> extends PooledSession<T> {
  readonly sessionAudit: Pick<SessionAudit<never>, 'checkLag' | 'audit' | 'distrust'>;
}

export type LiveSetStats = Readonly<
  Pick<LiveSet<never, never>, 'size' | 'leaseViolations' | 'audited' | 'lostSessions' | 'auditIntervalMs'>
>;

export type SessionCallbacks<T> = Omit<LiveSessionOptions<T>, 'pubsub'>;

/** A feed that keeps states live in place of WebSocket sessions, while it may be used. */
export interface LiveFeed<T> {
  readonly nodeId: string;
  readonly isPooled: boolean;
  /** True while it may be used and has room. */
  readonly hasRoom: boolean;
  /** True while it has so much room that states which it did not accept, or let go, may be offered again. */
  readonly isRoomy: boolean;
  accepts(state: T): boolean;
  createSession(callbacks: SessionCallbacks<T>): LiveSession<T>;
}

/** What keeps states live: sessions with nodes, another gateway, or nothing for the moment. */
export type KeptOver<T extends LiveState<V>, V> = FollowedSession<T, V> | 'nodes' | 'nothing';

export interface LiveSetOptions<T, V> extends LiveSourceOptions<LiveSourceSettings> {
  readonly maxSize: number;
  /** About the subscriptions that a state needs, by which the number of sessions is bounded. Default: 1. */
  readonly subscriptionsPerState?: number;
  /** About the most states that an audit compares, over all sessions; the others have their turn in the next ones. */
  readonly maxAudited: number;
  createSession(options: LiveSessionOptions<T>): LiveSession<T>;
  /** Called with the node of each session that is opened. */
  onOpened?(nodeId: string): void;
  /** The feed that is used in place of nodes while it can be; undefined for none. */
  readonly feed?: LiveFeed<T> | undefined;
  createState(address: string, commitment: Commitment, rules: LiveRules, heat: ReadHeat): T;
  /** Called when a state that another gateway keeps has changed there. */
  onFollowedChange?(state: T, slot: Slot): void;
  readonly onFollowedLease?: FollowedSessionOptions<T, V>['onLease'] | undefined;
  /** Applies what another gateway publishes of a state at processed. */
  applyProcessed?(state: T, slot: Slot, value: V | undefined): void;
  onNotFollowed(state: T): void;
  /** Called with a state that has lost its place, to somebody else or since nobody reads it. */
  onEvicted?(state: T): void;
}

/** The states whose initial sync is under way for each request a second: two batches of it. */
const SYNCING_PER_REQUEST = 200;

/** The states that move to a feed with each slot: those that move are read from nodes until they are known there. */
const MOVED_PER_SLOT = 500;

/** The longest time for which readers wait for states that move to a feed, in milliseconds. */
const MOVE_MS = 10_000;

/** Chooses what is kept live ({@link Places}), each with a value of its kind, assigns it to sessions, and audits it. */
export class LiveSet<T extends LiveState<V>, V> {
  /** The number of leases that covered a slot at which the state had changed. It must be 0. */
  leaseViolations = 0;
  audited = 0;
  lostSessions = 0;
  /** The time in which all that is live was audited last, or the interval of audits if that is longer. */
  auditIntervalMs: number;
  readonly #options: LiveSetOptions<T, V>;
  readonly #rules: LiveRules;
  readonly #hotKeys: HotKeyDetector;
  readonly #places: Places<T>;
  readonly #sessions: SessionPool<T, LiveSession<T>>;
  readonly #budgets: RequestBudgets;
  /** States that are to move to the feed, a part of them with each slot. */
  #moving: T[] = [];
  /** Where the search goes on for states that the feed may have again. */
  #offered: Iterator<T> | undefined;
  #feedUpMs = 0;
  #keptOver: KeptOver<T, V> = 'nodes';
  #onKeptOver = (): void => {};
  #observer: LiveObserver<T> | undefined;
  #cancelAudit = (): void => {};
  #isClosed = false;
  #idle = { tip: -1, slots: 1 };

  constructor(options: LiveSetOptions<T, V>) {
    const { clock, random, maxSize } = options;
    const { idleMs, callerShare, auditMs, requestsPerSecond } = options.settings;
    this.#budgets = options.budgets ?? new RequestBudgets(clock, requestsPerSecond);
    this.auditIntervalMs = auditMs;
    this.#options = options;
    const halfLifeSlots = Math.ceil(idleMs / TARGET_SLOT_MS / 2);
    this.#rules = { initialSync: options.initialSync ?? doubleRead, halfLifeSlots, observer: undefined };
    this.#hotKeys = new HotKeyDetector(maxSize, halfLifeSlots, random);
    this.#places = new Places({
      maxSize,
      halfLifeSlots,
      callerShare,
      tip: () => this.tip,
      keyOf: (state) => ownKeyOf(state),
      isIdle: (state) => this.#isIdle(state),
      onPlaced: (state) => this.#sessions.add(state),
      staysUntilIdle: ({ tipAtIneligible }) => tipAtIneligible !== undefined, // else it would be retried immediately
      onEvict: (key, state) => {
        if (!this.#isIdle(state)) this.#hotKeys.giveBack(key, state);
        this.#sessions.remove(state);
        options.onEvicted?.(state);
        this.#observer?.onLeft(state);
      },
    });
    this.#sessions = new SessionPool({
      clock,
      maxSubscriptions: maxSize * (options.subscriptionsPerState ?? 1),
      maxSyncing: SYNCING_PER_REQUEST * (requestsPerSecond ?? FIRST_PER_SECOND),
      rankOf: (state) => state.priority,
      open: (state) => this.#open(state),
    });
    this.#auditAfter(auditMs);
  }

  get size(): number {
    return this.#places.size;
  }

  get tip(): Slot {
    return this.#options.mesh.tip('processed') ?? 0;
  }

  get(address: string, commitment: Commitment): T | undefined {
    return this.#places.get(liveKeyOf({ address, commitment }));
  }

  /**
   * Returns a state that is in the set. Of another one it records the read, and adds it when it has become hot and has a place.
   * The place counts for the caller; undefined is the gateway itself. A processed state holds for one slot: only a subscription
   * adds it.
   */
  getOrAdd(address: string, commitment: Commitment, caller: string | undefined): T | undefined {
    const key = liveKeyOf({ address, commitment });
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    if (commitment === 'processed' || this.#options.maxSize === 0 || this.#isClosed) return undefined;
    const heat = this.#hotKeys.recordRead(key, this.tip, Math.ceil(this.#idleSlots / 2)); // one that is polled at that pace isn't idle
    if (heat === undefined) return undefined;
    return this.#places.addRead(caller, heat, () =>
      this.#options.createState(address, commitment, this.#rules, this.#hotKeys.remove(key)),
    );
  }

  /** Undefined when the caller can have no place, or when the set is closed. {@link unsubscribe} must end it. */
  subscribe(address: string, commitment: Commitment, caller: string): T | undefined {
    if (this.#isClosed) return undefined;
    const key = liveKeyOf({ address, commitment });
    return this.#places.subscribe(key, caller, () =>
      this.#options.createState(address, commitment, this.#rules, this.#hotKeys.remove(key)),
    );
  }

  /** Ends a subscription of a caller. The state stays in the set only if it is read, too. */
  unsubscribe(address: string, commitment: Commitment, caller: string): void {
    this.#places.unsubscribe(liveKeyOf({ address, commitment }), caller);
  }

  /** For the readers of another gateway. Undefined when others are read more, or when the set is closed. */
  keepFor(address: string, commitment: Commitment, rate: ReadRate): T | undefined {
    const key = liveKeyOf({ address, commitment });
    const known = this.#places.get(key);
    if (known !== undefined) absorbReads(known, rate);
    if (known !== undefined || this.#options.maxSize === 0 || this.#isClosed) return known;
    const heat = this.#hotKeys.remove(key);
    absorbReads(heat, rate);
    const state = this.#places.addRead(undefined, heat, () =>
      this.#options.createState(address, commitment, this.#rules, heat),
    );
    if (state === undefined) this.#hotKeys.giveBack(key, heat);
    return state;
  }

  get observer(): LiveObserver<T> | undefined {
    return this.#observer;
  }

  observeWith(observer: LiveObserver<T>): void {
    this.#observer = observer;
    this.#rules.observer = observer;
  }

  /** Creates the session by which states can be copied from another gateway. */
  createFollowedSession(link: Pick<FollowedSessionOptions<T, V>, 'report'>): FollowedSession<T, V> {
    const { mesh, onFollowedChange, applyProcessed, onNotFollowed, onFollowedLease, onDenied } = this.#options;
    const session: FollowedSession<T, V> = new FollowedSession<T, V>({
      ...link,
      tip: (commitment) => mesh.tip(commitment),
      idleSlots: () => this.#idleSlots,
      onChange: (state, slot) => onFollowedChange?.(state, slot),
      onLease: (state, isWrong) => {
        onFollowedLease?.(state, isWrong);
        if (isWrong) onDenied?.();
      },
      applyProcessed: (state, slot, value) => applyProcessed?.(state, slot, value),
      onLeft: onNotFollowed,
      onLost: (states) => this.#sessions.dropSession(session, states),
    });
    return session;
  }

  /** Keeps all states live over this from now on. The sessions that kept them before are closed. */
  keepOver(keptOver: KeptOver<T, V>): void {
    if (keptOver === this.#keptOver) return;
    this.#keptOver = keptOver;
    this.#onKeptOver();
    this.#sessions.closeAll(keptOver instanceof FollowedSession ? keptOver : undefined);
  }

  get nodeIds(): readonly string[] {
    return [...this.#sessions.sessions].flatMap(({ connection }) => connection.nodeId ?? []);
  }

  /** Forgets what is kept live over a node that is not believed any more. */
  distrust(nodeId: string): void {
    for (const session of [...this.#sessions.sessions])
      if (session.connection.nodeId === nodeId) session.sessionAudit.distrust();
  }

  /** Moves what is kept live to the feed, which may be used from now on, part by part. */
  onFeedUp(): void {
    const { feed, clock } = this.#options;
    this.#feedUpMs = clock.monotonic();
    this.#moving = feed === undefined ? [] : [...this.#places.values()].filter((state) => feed.accepts(state));
    this.#onKeptOver(); // what waits for a WebSocket of a node need not any longer
    this.#sessions.openAnother();
  }

  /** Returns true for a state that is about to move to the feed; false for all once that lasts long. */
  isMoving(address: string, commitment: Commitment): boolean {
    const { feed, clock } = this.#options;
    const isUnderWay = this.#moving.length > 0 && clock.monotonic() - this.#feedUpMs < MOVE_MS;
    if (!isUnderWay || this.#keptOver !== 'nodes' || feed?.hasRoom !== true) return false;
    const state = this.get(address, commitment);
    return state !== undefined && feed.accepts(state);
  }

  reassign(state: T): void {
    this.#sessions.remove(state);
    this.#sessions.add(state);
  }

  /** Closes sessions that lag behind the new tip, and evicts idle states so that each is examined in `idleMs`. */
  onTip(commitment: Commitment): void {
    for (const session of [...this.#sessions.sessions]) session.sessionAudit.checkLag(commitment);
    if (commitment !== 'processed') return;
    if (this.#options.feed?.hasRoom === true) this.#moveTo(this.#options.feed);
    this.#places.evictIdle(Math.ceil(this.size / this.#idleSlots));
  }

  /** Re-reads what has a lease and compares it. A timer calls this each `auditMs`, or later if one takes longer. */
  async audit(): Promise<void> {
    const sessions = [...this.#sessions.sessions];
    const total = sessions.reduce((sum, { size }) => sum + size, 0);
    for (const session of sessions) {
      const share = total === 0 ? 0 : session.size / total;
      this.audited += await session.sessionAudit.audit(Math.ceil(this.#options.maxAudited * share));
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelAudit();
    this.#sessions.close();
  }

  #moveTo(feed: LiveFeed<T>): void {
    if (this.#keptOver !== 'nodes')
      this.#moving = []; // the sessions that keep them later are new ones
    else if (this.#moving.length === 0 && feed.isRoomy) this.#moving = this.#nextOffered(feed);
    if (this.#moving.length === 0) return;
    const room = this.#sessions.preferredRoom;
    if (room === 0) this.#sessions.openAnother();
    for (const state of this.#moving.splice(0, Math.min(room, MOVED_PER_SLOT)))
      if (this.#isKept(state) && this.#mayMove(state, feed)) this.reassign(state);
  }

  #nextOffered(feed: LiveFeed<T>): T[] {
    const offered: T[] = [];
    for (let left = MOVED_PER_SLOT; left > 0; left--) {
      this.#offered ??= this.#places.values()[Symbol.iterator]();
      const { value: state, done = false } = this.#offered.next();
      if (done) {
        this.#offered = undefined;
        break;
      }
      if (this.#mayMove(state, feed)) offered.push(state);
    }
    return offered;
  }

  #mayMove(state: T, feed: LiveFeed<T>): boolean {
    return state.tipAtIneligible === undefined && feed.accepts(state) && !this.#sessions.isPreferred(state);
  }

  /** The slots that pass in `idleMs`: a read is dated by the tip, which all gateways of a fleet have in common. */
  get #idleSlots(): number {
    const { tip } = this;
    if (this.#idle.tip === tip) return this.#idle.slots; // it is computed once a slot: each miss needs it
    const { mesh, settings } = this.#options;
    this.#idle = { tip, slots: Math.max(1, Math.round(settings.idleMs / mesh.slotTimeMs)) };
    return this.#idle.slots;
  }

  #auditAfter(ms: number): void {
    const { clock, settings } = this.#options;
    this.#cancelAudit = clock.after(ms, () => {
      const startMs = clock.monotonic();
      const next = (): void => {
        const tookMs = clock.monotonic() - startMs;
        this.auditIntervalMs = Math.max(settings.auditMs, tookMs);
        if (!this.#isClosed) this.#auditAfter(this.auditIntervalMs - tookMs);
      };
      void this.audit()
        .catch(() => {}) // the next audit tries again
        .then(next);
    });
  }

  /** Opens a session over what is in use by then. */
  async #open(state: T | undefined): Promise<() => LiveSession<T> | undefined> {
    const { feed, mesh } = this.#options;
    for (let isFirst = true; ; isFirst = false) {
      const keptOver = this.#keptOver;
      if (keptOver instanceof FollowedSession) return () => (this.#keptOver === keptOver ? keptOver : undefined);
      // Others may need the feed once it is up, while no WebSocket can be opened for this one.
      const isNeeded = !isFirst && this.#sessions.preferredRoom === 0;
      const isForFeed = feed?.hasRoom === true && (state === undefined || isNeeded || feed.accepts(state));
      if (isForFeed && keptOver === 'nodes') return () => this.#createOverFeed(feed);
      const { promise: changed, resolve } = new Deferred();
      this.#onKeptOver = resolve;
      const opening = keptOver === 'nodes' ? mesh.openSession() : undefined;
      const pubsub = await (opening === undefined ? changed : Promise.race([opening, changed]));
      if (pubsub !== undefined && this.#keptOver === 'nodes') return () => this.#createOverNode(pubsub);
      opening?.then((session) => session.close()).catch(() => {});
    }
  }

  #createOverFeed(feed: LiveFeed<T>): LiveSession<T> | undefined {
    if (this.#keptOver !== 'nodes' || !feed.hasRoom) return undefined; // one of both has changed just now
    return this.#create(feed, (callbacks) => feed.createSession(callbacks));
  }

  #createOverNode(pubsub: PubsubSession): LiveSession<T> | undefined {
    if (this.#keptOver === 'nodes' && !pubsub.isLost)
      return this.#create(pubsub, (callbacks) => this.#options.createSession({ ...callbacks, pubsub }));
    pubsub.close(); // one of both has changed just now
    return undefined;
  }

  #create(
    node: Pick<PubsubSession, 'nodeId' | 'isPooled'>,
    create: (callbacks: SessionCallbacks<T>) => LiveSession<T>,
  ): LiveSession<T> {
    const { mesh, clock, onOpened, onLeasesAdvanced, onDenied } = this.#options;
    onOpened?.(node.nodeId);
    const session = create({
      clock,
      tip: (commitment) => mesh.tip(commitment),
      slotTimeMs: () => mesh.slotTimeMs,
      onLeasesAdvanced: (watermark) => {
        onLeasesAdvanced?.(watermark);
        this.#observer?.onWatermark(watermark);
      },
      onDenied: () => onDenied?.(),
      onWatermarkLost: (watermark) => this.#observer?.onWatermark(watermark),
      budget: this.#budgets.of(node),
      agreement: mesh.agreement,
      onRoom: () => this.#sessions.assignWaiting(),
      isRenewing: () => this.#sessions.isAssigning,
      onLeaseViolation: (state, dropped, evidence) =>
        this.#reportViolation(state, { dropped, node: node.nodeId, ...evidence }),
      onLost: (states, reason) => this.#onSessionLost(session, states, { node: node.nodeId, reason }),
    });
    return session;
  }

  #isKept(state: T): boolean {
    return this.#places.get(liveKeyOf(state)) === state;
  }

  /** Returns true for a state that nobody has read for long, or that is to be tried again since it was ineligible. */
  #isIdle({ tipAtIneligible, tipAtLastRead }: T): boolean {
    const sinceSlot = tipAtIneligible ?? tipAtLastRead;
    return sinceSlot === undefined || this.tip - sinceSlot > this.#idleSlots;
  }

  #reportViolation(state: T, evidence: object): void {
    this.leaseViolations++;
    const { address, commitment } = state;
    const facts = { address, commitment, ...evidence };
    this.#options.onProblem?.(
      'a lease covered a slot at which the state had changed: what it covered is no longer served',
      facts,
    );
  }

  #onSessionLost(session: LiveSession<T>, states: Iterable<T>, facts: object): void {
    if (this.#isClosed || !this.#sessions.sessions.has(session)) return; // it was empty, and closed
    if (this.#keptOver === 'nodes') {
      this.lostSessions++;
      this.#options.onProblem?.('a session that keeps accounts live was lost: they move to another', facts);
    }
    this.#sessions.dropSession(session, states);
  }
}
