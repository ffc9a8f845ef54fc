import type { Clock } from '../../../shared/domain/clock.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { exponentialDelayMs } from '../../../shared/runtime/exponential-backoff.ts';
import type { BackoffOptions } from '../../upstream/failsafe/jittered-backoff.ts';
import { createFeedClient, type FeedAddress, type FeedClient, FeedError } from '../../upstream/geyser/geyser-client.ts';
import type { Mesh } from '../../upstream/mesh/mesh.ts';
import { readEpochInfo } from '../../upstream/reads/network-statistics.ts';
import { type AdmittedFeed, admitFeed } from '../feed/feed-admission.ts';
import { type Replay, type ReplayQuery, readReplay } from '../feed/feed-replay.ts';
import type { RecentBlocks } from '../feed/recent-blocks.ts';
import type { VersionRing } from '../feed/version-ring.ts';
import type { LiveFeed, SessionCallbacks } from '../live-set.ts';
import type { AccountSessionOptions } from './account-session.ts';
import type { AccountState } from './account-state.ts';
import { FeedAccountSession, isKeptBy } from './feed-account-session.ts';

/** A feed, under the name of the node that it belongs to. */
export interface NamedFeed extends FeedAddress {
  readonly id: string;
}

export interface GeyserFeedOptions extends BackoffOptions {
  /** In order of preference; at least one. */
  readonly feeds: readonly NamedFeed[];
  readonly mesh: Pick<Mesh, 'acceptsSlot' | 'call' | 'tip'>;
  readonly clock: Clock;
  /** Default: {@link createFeedClient}. */
  readonly createClient?: typeof createFeedClient;
  readonly ring: VersionRing;
  readonly blocks: RecentBlocks;
  /** The most bytes of what a feed has sent before it can be used, and of what it sends again. */
  readonly maxBytes: number;
  onUp(): void;
  /** Called when a feed can't be used, once for each reason; accounts are kept over WebSockets then. */
  onProblem(feed: string, problem: string): void;
  onRecovery(feed: string, recovery: string): void;
}

/** What keeps accounts over a feed needs of their source. */
export type FeedSource = Pick<AccountSessionOptions, 'maxAccountBytes' | 'onChange' | 'onIneligible' | 'reassign'>;

/** The state of the feed that is used or tried. */
export interface GeyserFeedStatus {
  readonly id: string;
  readonly status: 'up' | 'down';
  /** The plugin and its version, where it has named them. */
  readonly version: string | null;
  /** The block up to which accounts are known; null without one. */
  readonly slot: Slot | null;
  readonly behindSlots: number | null;
  /** Blocks that it could send again when it was admitted. */
  readonly replaySlots: number | null;
  readonly accounts: number;
  readonly streams: number;
  readonly gaps: number;
  readonly reconnects: number;
}

const NODE_REFUSED = 'its node is refused';
const ADMISSION_MS = 30_000;
const [RETRY_MIN_MS, RETRY_MAX_MS] = [5000, 300_000];

interface Epoch {
  readonly first: Slot;
  readonly slots: number;
}

/** Keeps a connection to the first of some feeds that is admitted (G0), and makes sessions over it. */
export class GeyserFeed implements LiveFeed<AccountState> {
  readonly isPooled = false;
  readonly #options: GeyserFeedOptions;
  readonly #source: FeedSource;
  readonly #sessions = new Set<FeedAccountSession>();
  readonly #problems = new Map<string, string>();
  readonly #refused = new Set<string>();
  #client: FeedClient | undefined;
  #admitted: AdmittedFeed | undefined;
  #replaySlots: number | null = null;
  #nodeId: string;
  #epoch: Epoch | undefined;
  #failures = 0;
  #upSinceMs = 0;
  #cancelRetry = (): void => {};
  #isClosed = false;

  constructor(options: GeyserFeedOptions, source: FeedSource) {
    this.#options = options;
    this.#source = source;
    this.#nodeId = options.feeds[0]?.id ?? '';
  }

  get nodeId(): string {
    return this.#nodeId;
  }

  get hasRoom(): boolean {
    return this.#admitted !== undefined;
  }

  get isRoomy(): boolean {
    return !this.#options.ring.isNearlyFull;
  }

  /** True until a feed is admitted for the first time, or can't be used. */
  get isStarting(): boolean {
    return !this.#isClosed && this.#admitted === undefined && this.#problems.size === 0;
  }

  /** Reads what accounts were before; undefined where no feed sends that again. */
  async replay(query: ReplayQuery): Promise<Replay | undefined> {
    const { clock, maxBytes } = this.#options;
    const [client, admitted] = [this.#client, this.#admitted];
    if (client === undefined || admitted === undefined) return undefined;
    return readReplay({ client, mode: admitted.mode, clock, maxBytes }, query);
  }

  /** Why no feed can be used, in one line each. */
  get problems(): readonly string[] {
    return [...this.#problems].map(([id, problem]) => `the Geyser feed of ${id} can't be used: ${problem}`);
  }

  /** Never uses the feed of a node again: other operators contradict it. */
  refuse(nodeId: string): void {
    this.#refused.add(nodeId);
    if (nodeId === this.nodeId) this.#onDown(NODE_REFUSED);
  }

  /** Begins to use a feed: once the nodes are known, by which it is admitted. */
  start(): void {
    void this.#admit();
  }

  accepts(state: AccountState): boolean {
    return isKeptBy(this.#options.ring, state);
  }

  createSession(callbacks: SessionCallbacks<AccountState>): FeedAccountSession {
    const { ring, blocks, mesh, random, settings, maxBytes } = this.#options;
    const [client, admitted] = [this.#client, this.#admitted];
    if (client === undefined || admitted === undefined) throw new FeedError('no feed is in use');
    const { nodeId } = this;
    const session: FeedAccountSession = new FeedAccountSession({
      ...callbacks,
      ...this.#source,
      nodeId,
      link: {
        client,
        mode: admitted.mode,
        acceptsSlot: (commitment, slot) => mesh.acceptsSlot(nodeId, commitment, slot),
        isOneEpoch: (from, to) => this.#isOneEpoch(from, to),
        random,
        settings,
        maxBytes,
      },
      rpc: mesh,
      ring,
      blocks,
      onFalse: (reason) => this.#onDown(reason),
      onLost: (states, reason) => {
        this.#sessions.delete(session);
        callbacks.onLost(states, reason);
      },
      onGivenUp: (reason) => this.#onDown(reason),
    });
    this.#sessions.add(session);
    return session;
  }

  status(): GeyserFeedStatus {
    const sessions = [...this.#sessions];
    const slot = sessions.length === 0 ? -1 : Math.min(...sessions.map((session) => session.slot));
    const tip = this.#options.mesh.tip('confirmed');
    const sum = (of: (session: FeedAccountSession) => number): number =>
      sessions.reduce((total, session) => total + of(session), 0);
    const version = this.#admitted?.version;
    return {
      id: this.nodeId,
      status: this.#admitted === undefined ? 'down' : 'up',
      version: version === undefined ? null : `${version.name} ${version.version}`,
      slot: slot < 0 ? null : slot,
      behindSlots: slot < 0 || tip === undefined ? null : Math.max(0, tip - slot),
      replaySlots: this.#replaySlots,
      accounts: sum(({ size }) => size),
      streams: sessions.length,
      gaps: sum(({ gaps }) => gaps),
      reconnects: sum(({ reconnects }) => reconnects),
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelRetry();
    for (const session of [...this.#sessions]) session.close();
    this.#client?.close();
    this.#client = undefined;
    this.#admitted = undefined;
  }

  /** Admits the first feed that may be used; with none tries again later. */
  async #admit(): Promise<void> {
    const { feeds, clock, mesh, maxBytes, onRecovery, onUp, createClient = createFeedClient } = this.#options;
    for (const { id, ...address } of feeds) {
      if (this.#isClosed) return;
      if (this.#refused.has(id)) continue;
      this.#nodeId = id;
      this.#client = undefined;
      let client: FeedClient | undefined;
      try {
        client = await createClient(address);
        this.#checkWanted(id);
        this.#client = client;
        const admitted = await admitFeed({ client, rpc: mesh, clock, timeoutMs: ADMISSION_MS, maxBytes });
        const first = await client.firstReplayed().catch(() => undefined);
        this.#replaySlots = first === undefined ? 0 : Math.max(0, (mesh.tip('confirmed') ?? first) - first);
        await this.#readEpoch();
        this.#checkWanted(id);
        this.#admitted = admitted;
        this.#upSinceMs = clock.monotonic();
        if (this.#problems.delete(id)) onRecovery(id, 'the Geyser feed is up again');
        onUp();
        return;
      } catch (thrown) {
        client?.close();
        this.#report(id, thrown instanceof FeedError ? thrown.message : 'it fails');
      }
    }
    this.#retry();
  }

  /** Throws once the feed of a node is not to be used any more, whatever was waited for. */
  #checkWanted(id: string): void {
    if (this.#isClosed || this.#refused.has(id)) throw new FeedError(NODE_REFUSED);
  }

  #report(id: string, problem: string): void {
    if (this.#isClosed || this.#problems.get(id) === problem) return;
    this.#problems.set(id, problem);
    this.#options.onProblem(id, problem);
  }

  #onDown(reason: string): void {
    if (this.#admitted === undefined) return;
    this.#admitted = undefined;
    this.#report(this.nodeId, reason);
    const client = this.#client;
    for (const session of [...this.#sessions]) session.close(reason);
    client?.close();
    const { clock } = this.#options;
    if (clock.monotonic() - this.#upSinceMs > RETRY_MAX_MS) this.#failures = 0; // else it is admitted in vain
    this.#retry();
  }

  #retry(): void {
    if (this.#isClosed) return;
    const delayMs = exponentialDelayMs(this.#failures++, RETRY_MIN_MS, RETRY_MAX_MS);
    this.#cancelRetry = this.#options.clock.after(delayMs, () => void this.#admit());
  }

  /** Returns true if both slots are known to be of one epoch. Reads the epoch again where they are not. */
  #isOneEpoch(from: Slot, to: Slot): boolean {
    const epoch = this.#epoch;
    const isOne = epoch !== undefined && from >= epoch.first && to < epoch.first + epoch.slots;
    if (!isOne) void this.#readEpoch();
    return isOne;
  }

  async #readEpoch(): Promise<void> {
    try {
      const { absoluteSlot, slotIndex, slotsInEpoch } = (await readEpochInfo(this.#options.mesh, 'confirmed')).result;
      this.#epoch = { first: absoluteSlot - slotIndex, slots: slotsInEpoch };
    } catch {
      // it is read again when it is needed: a rejection here would end the process, whatever a node has sent
    }
  }
}
