import { COMMITMENTS, type Commitment } from '../../../shared/domain/commitment.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { RpcMethod } from '../../../shared/domain/rpc-methods.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { Alert } from '../../../shared/runtime/alert.ts';
import { exponentialDelayMs } from '../../../shared/runtime/exponential-backoff.ts';
import type { ByteBudget } from '../failsafe/byte-budget.ts';
import { member, parseString } from '../json/raw-json.ts';
import { NodeSessions } from '../pubsub/node-sessions.ts';
import { PubsubCounts } from '../pubsub/pubsub-counts.ts';
import { ReconnectingChannel } from '../pubsub/reconnecting-channel.ts';
import { slotSubscriptions } from '../pubsub/slot-subscriptions.ts';
import { type LearnedLimits, SubscriptionLimit } from '../pubsub/subscription-limit.ts';
import { callCounter } from '../rpc/call-counter.ts';
import { minContextSlotNotReached, noNodeReachable, rpcFaultOf } from '../rpc/error-normalizer.ts';
import { failureReason } from '../rpc/failure-reason.ts';
import { MethodSupport } from '../rpc/method-support.ts';
import { redactedOrigin } from '../rpc/redact.ts';
import { minContextSlotOf } from '../rpc/response-slot.ts';
import { type RequestOptions, RpcClient } from '../rpc/rpc-client.ts';
import type { RpcResponse } from '../rpc/rpc-response.ts';
import { profileOfVersion, type ServerProfile } from '../rpc/server-profile.ts';
import type { NodeOptions, UpstreamDeps } from '../upstream-options.ts';
import type { NodeFigures, NodeStatus } from './mesh.ts';
import type { Candidate } from './node-selection.ts';
import type { SlotConsensus } from './slot-consensus.ts';
import { SlotPoller } from './slot-poller.ts';

/** Form of a genesis hash. Receipts are bound to it and operators see it: nothing else may pass for one. */
const GENESIS_HASH = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/** What to do about a WebSocket that was never up. */
const NAME_WEBSOCKET = 'if the node has it at another address, name that too: --upstream URL,WEBSOCKET-URL';

/** Longest wait for the version of a node, which delays the first call to it: afterwards it counts as before. */
const VERSION_MS = 1000;
/** Shortest time between two reads of it: several servers may answer in turn behind one address. */
const SERVER_MS = 60_000;
/** Lag from which on a node is `behind` (I12), and below which it no longer is: two bounds, so that it doesn't flap. */
export const MAX_LAG_SLOTS = 20;
const RECOVERED_LAG_SLOTS = 10;
const STATUS_RANK = { ok: 0, behind: 3, stalled: 4, down: 5 } as const;
const UNSUPPORTED_RANK = 10;

export interface MeshNodeOptions {
  readonly node: NodeOptions;
  readonly deps: UpstreamDeps;
  readonly budget: ByteBudget;
  readonly consensus: SlotConsensus;
  /** Memory of what nodes accept. Default: that of this process. */
  readonly learnedLimits?: LearnedLimits | undefined;
  /** Called when a problem starts; its text holds no secret. */
  onProblem(nodeId: string, problem: string): void;
  onRecovery(nodeId: string, recovery: string): void;
}

/** Bounds of a call, and the request that it is made for. */
export interface NodeCallOptions extends RequestOptions {
  /** Commitment whose latest slot dates a response that names none. */
  readonly anchorCommitment: Commitment;
  /** Oldest slot of the response. Default: the `minContextSlot` of the parameters. */
  readonly minSlot?: Slot;
}

/** One node of the mesh: its RPC client, channel and sessions, used only while its genesis and slots are trusted. */
export class MeshNode {
  readonly id: string;
  readonly operator: string;
  readonly isArchival: boolean;
  readonly client: RpcClient;
  readonly methodSupport: MethodSupport;
  readonly sessions: NodeSessions;
  readonly #pubsub = new PubsubCounts();
  readonly #options: MeshNodeOptions;
  readonly #poller: SlotPoller;
  readonly #alert: Alert;
  readonly #channelAlert: Alert;
  #channel: ReconnectingChannel | undefined;
  #wasChannelUp = false;
  /** Latest check of its genesis hash; undefined if it failed, and once the node was out of touch. */
  #genesis: Promise<string> | undefined;
  #genesisFailure: string | undefined;
  /** When the kind of server may be read again, and how many reads of it in a row got no answer. */
  #serverDueMs = Number.NEGATIVE_INFINITY;
  #lostServerReads = 0;
  /** Slots behind the tip, at the commitment at which it lags most. */
  #lagSlots = 0;
  #isBehind = false;
  #isStarted = false;
  #isResting = false;
  #isClosed = false;

  constructor(options: MeshNodeOptions) {
    const { node, deps, budget, consensus, onProblem, onRecovery } = options;
    this.#options = options;
    this.id = node.id;
    this.operator = node.operator ?? node.id;
    this.isArchival = node.archival ?? false;
    this.client = new RpcClient(node, deps, (commitment, slot) => this.#onSlot(commitment, slot), budget);
    this.methodSupport = new MethodSupport(deps.clock, node.methods);
    this.#poller = new SlotPoller({
      client: this.client,
      clock: deps.clock,
      support: this.methodSupport,
      verifyGenesis: async () => {
        await this.verifyGenesis();
        if (this.#lostServerReads > 0) void this.#readServer(); // no poll waits for it
      },
      onPolled: () => {
        if (!this.isHealthy) this.#genesis = undefined; // another may answer there, without a WebSocket that was lost
        this.#checkAlerts();
      },
    });
    this.#alert = new Alert({
      onFiring: (reason) => onProblem(this.id, `unavailable: ${reason} (${redactedOrigin(node.url)})`),
      onResolved: () => onRecovery(this.id, 'available again'),
    });
    this.#channelAlert = new Alert({
      onFiring: (reason) => {
        const advice = this.#wasChannelUp ? '' : `; ${NAME_WEBSOCKET}`;
        onProblem(this.id, `the WebSocket ${reason} (${redactedOrigin(node.wsUrl)}): slots are polled${advice}`);
      },
      onResolved: () => onRecovery(this.id, 'the WebSocket is up again'),
    });
    this.sessions = new NodeSessions({
      node,
      deps,
      limit: new SubscriptionLimit({
        clock: deps.clock,
        cap: deps.settings.subscriptions,
        wsUrl: node.wsUrl,
        learnedLimits: options.learnedLimits,
      }),
      counts: this.#pubsub,
      verifyGenesis: async () => {
        await this.#verifyGenesisAgain();
        if (!this.server.keepsOrder) throw noNodeReachable();
      },
      call: (method, params, { commitment = 'confirmed', deadlineMs, isLarge, cost }) =>
        this.call(method, params, {
          anchorCommitment: commitment,
          deadlineMs,
          isLarge,
          cost,
          onSent: callCounter(cost, method),
        }),
      acceptsSlot: (commitment, slot, slotBefore) => {
        this.client.slots.observe(commitment, slot, slotBefore);
        return this.isTrusted && consensus.isAccepted(commitment, slot);
      },
    });
  }

  /** What kind of server the node is, as far as is known. */
  get server(): ServerProfile {
    return this.methodSupport.server;
  }

  /** False for a quarantined node, which is never called, even if no other is left. */
  get isTrusted(): boolean {
    return this.#options.consensus.isTrusted(this.id);
  }

  get isHealthy(): boolean {
    return this.#health === 'ok';
  }

  /** True for a node that runs, but whose slots differ from those of the others. */
  get isOutOfSync(): boolean {
    return !this.isTrusted || this.#health === 'behind';
  }

  /** True for a node that named another genesis hash than that of the cluster. */
  get isForeign(): boolean {
    return this.#options.consensus.quarantineOf(this.id).isForeign;
  }

  candidateFor(method: RpcMethod, commitment: Commitment = 'confirmed', minSlot: Slot = 0): Candidate {
    const rank = STATUS_RANK[this.#health];
    const isBelowMinSlot = (this.client.slots.latest(commitment) ?? 0) < minSlot;
    const { weight = 1 } = this.#options.node;
    const { methodSupport } = this;
    const isUnsupported =
      methodSupport.isUnsupported(method) || (commitment === 'processed' && methodSupport.refusesProcessed);
    return {
      rank: Math.max(rank, isBelowMinSlot ? 1 : 0, this.client.isHung ? 2 : 0) + (isUnsupported ? UNSUPPORTED_RANK : 0),
      currentWeight: weight / (1 + this.client.meanLatencyMs),
      id: this.id,
      weight,
    };
  }

  replaySlots(): void {
    for (const commitment of COMMITMENTS) {
      const slot = this.client.slots.latest(commitment);
      if (slot !== undefined) this.#onSlot(commitment, slot);
    }
  }

  start(): void {
    this.#isStarted = true;
    this.#updateChannel();
    this.#poller.start();
  }

  /** Follows the node's slots over HTTP alone while it rests. */
  rest(isResting: boolean): void {
    if (isResting === this.#isResting) return;
    this.#isResting = isResting;
    this.#updateChannel();
  }

  /** Resolves to the genesis hash once slots are known. Calls the node only if it has been out of touch since. */
  verifyGenesis(): Promise<string> {
    this.#genesis ??= this.#checkGenesis();
    return this.#genesis;
  }

  #verifyGenesisAgain(): Promise<string> {
    this.#genesis = undefined;
    return this.verifyGenesis();
  }

  /** Calls the node as `RpcClient.call` does. Rejects a response that is too old (I8) or at no accepted slot (I16). */
  async call(
    method: RpcMethod,
    params: readonly unknown[],
    { anchorCommitment, minSlot = minContextSlotOf(params) ?? 0, ...options }: NodeCallOptions,
  ): Promise<RpcResponse> {
    await this.verifyGenesis();
    try {
      const response = await this.client.call(method, params, anchorCommitment, options);
      if (!this.#options.consensus.acceptsSlot(this.id, 'processed', response.slot)) {
        throw new GatewayError('upstream_error', 'a node reports slots that are not accepted');
      }
      if (response.slot < minSlot) throw minContextSlotNotReached();
      return { ...response, nodeId: this.id };
    } catch (thrown) {
      if (this.client.isFailing) this.#genesis = undefined;
      if (thrown instanceof GatewayError) this.methodSupport.record(method, thrown);
      throw thrown;
    }
  }

  /** Re-evaluates the lag. Called for each new slot of any node, so that the result never depends on its readers. */
  updateLag(): void {
    const { consensus } = this.#options;
    this.#lagSlots = Math.max(
      ...COMMITMENTS.map((commitment) => {
        const latest = this.client.slots.latest(commitment);
        return latest === undefined ? 0 : (consensus.tips.newest(commitment) ?? 0) - latest;
      }),
    );
    this.#isBehind = this.#lagSlots > (this.#isBehind ? RECOVERED_LAG_SLOTS - 1 : MAX_LAG_SLOTS);
  }

  reportUnreached(): void {
    if (this.#problem !== null) this.#alert.fire(this.#problem);
  }

  reportQuarantine(reason: string): void {
    this.#alert.escalate(reason);
  }

  status(): Omit<NodeStatus, 'operator'> {
    const { consensus } = this.#options;
    const slot = this.client.slots.latest('processed') ?? null;
    const tip = consensus.tips.newest('processed');
    return {
      id: this.id,
      status: this.#health,
      slot,
      behindSlots: slot === null || tip === undefined ? null : Math.max(0, tip - slot),
      ws: this.#needsChannel ? (this.#channel?.status ?? 'down') : 'idle',
      problem: this.#problem,
    };
  }

  figures(): Omit<NodeFigures, 'disagreements'> {
    const { status, behindSlots, ws } = this.status();
    const { counts } = this.client;
    return {
      id: this.id,
      state: this.isTrusted ? status : 'refused',
      behindSlots,
      isWebSocketUp: ws === 'up',
      subscriptions: this.#pubsub.subscriptions,
      reconnects: this.#pubsub.reconnects,
      hedges: counts.hedges,
      requests: counts.byMethod,
      seconds: counts.seconds,
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#poller.stop();
    this.#channel?.close();
    this.sessions.closeAll();
    await this.client.close();
  }

  get #needsChannel(): boolean {
    return !this.#isResting && this.server.notifiedSlots.length > 0;
  }

  #updateChannel(): void {
    if (!this.#isStarted || this.#isClosed || this.#needsChannel === (this.#channel !== undefined)) return;
    if (this.#needsChannel) this.#openChannel();
    else this.#closeChannel();
  }

  #closeChannel(): void {
    const channel = this.#channel;
    this.#channel = undefined;
    channel?.close();
    this.#channelAlert.check(undefined);
  }

  #openChannel(): void {
    const { node, deps, consensus, onProblem } = this.#options;
    this.#channel = new ReconnectingChannel({
      node,
      deps,
      counts: this.#pubsub,
      verifyGenesis: () => this.#verifyGenesisAgain(),
      subscriptions: slotSubscriptions(this.server.notifiedSlots, {
        onParent: (slot, parent) => {
          if (this.isTrusted) consensus.tips.observeParent(slot, parent);
        },
        onSlot: (commitment, slot) => {
          this.#poller.onNotification(commitment);
          this.client.slots.observe(commitment, slot);
        },
        onRejected: (topic) => onProblem(this.id, `rejects the subscription to ${topic}`),
      }),
      onStatus: (status, reason) => {
        this.#wasChannelUp ||= status === 'up';
        if (status === 'up' || this.#isClosed || !this.#needsChannel) return;
        this.#genesis = undefined;
        this.#channelAlert.fire(reason);
      },
    });
  }

  get #health(): NodeStatus['status'] {
    const { slots, isFailing, breaker } = this.client;
    if (!this.isTrusted || isFailing || breaker.isOpen || slots.latest('processed') === undefined) return 'down';
    if (slots.unchangedMs > this.#options.deps.settings.idleTimeoutMs) return 'stalled';
    return this.#isBehind ? 'behind' : 'ok';
  }

  get #problem(): string | null {
    const { client, isTrusted } = this;
    const health = this.#health;
    if (health === 'ok') return null;
    if (!isTrusted) return this.#options.consensus.quarantineOf(this.id).reason ?? null;
    const failure = this.#genesisFailure ?? client.failure;
    if (failure !== undefined) return failure;
    if (health === 'stalled') return 'its slot does not advance';
    if (health === 'behind') return `behind by ${this.#lagSlots} slots`;
    return client.breaker.isOpen ? 'most calls fail' : 'no answer yet';
  }

  #checkAlerts(): void {
    if (this.#isClosed) return;
    this.#alert.check(this.#problem ?? undefined);
    this.#channelAlert.check(!this.#needsChannel || this.#channel?.status === 'up' ? undefined : 'is down');
  }

  #onSlot(commitment: Commitment, slot: Slot): void {
    this.#options.consensus.observe(this.id, commitment, slot, this.client.slots);
    this.updateLag();
  }

  async #checkGenesis(): Promise<string> {
    try {
      const hash = await this.#readGenesis();
      this.#genesisFailure = undefined;
      return hash;
    } catch (thrown) {
      this.#genesis = undefined;
      this.#genesisFailure = failureReason(thrown);
      throw thrown;
    }
  }

  async #readGenesis(): Promise<string> {
    const hash = parseString(await this.client.request('getGenesisHash', []));
    if (!GENESIS_HASH.test(hash)) throw new GatewayError('upstream_error', 'a node sent no genesis hash');
    if (!this.#options.consensus.verifyGenesis(this.id, hash)) throw noNodeReachable();
    await this.#readServer();
    await this.#poller.pollMissing();
    return hash;
  }

  /** A node that names no kind counts as before, as agave at first. A read without an answer is due again soon. */
  async #readServer(): Promise<void> {
    const { clock, settings } = this.#options.deps;
    const startMs = clock.monotonic();
    if (startMs < this.#serverDueMs) return;
    const failures = this.#lostServerReads;
    this.#lostServerReads = 0;
    this.#serverDueMs = startMs + SERVER_MS;
    const server = await this.client
      .request('getVersion', [], { deadlineMs: startMs + VERSION_MS })
      .then((result) => profileOfVersion(parseString(member(result, 'solana-core'))))
      .catch((thrown: unknown) => {
        if (rpcFaultOf(GatewayError.from(thrown)) !== 'node-limit') {
          this.#lostServerReads = failures + 1;
          this.#serverDueMs = clock.monotonic() + exponentialDelayMs(failures + 1, settings.backoffMinMs, SERVER_MS);
        }
        return this.server;
      });
    if (server === this.server) return;
    this.methodSupport.server = server;
    this.#closeChannel(); // what it notifies of differs
    this.#updateChannel();
    if (!server.keepsOrder) this.sessions.closeAll();
  }
}
