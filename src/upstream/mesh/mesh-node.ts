import { COMMITMENTS, type Commitment, impliedCommitments } from '../../domain/commitment.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { RpcMethod } from '../../domain/rpc-methods.ts';
import type { Slot } from '../../domain/slot.ts';
import type { ByteBudget } from '../failsafe/byte-budget.ts';
import { parseString } from '../json/raw-json.ts';
import { NodeSessions } from '../pubsub/node-sessions.ts';
import { ReconnectingFeed } from '../pubsub/reconnecting-feed.ts';
import { subscribeToSlots } from '../pubsub/slot-subscriptions.ts';
import { minContextSlotNotReached, noNodeReachable } from '../rpc/error-normalizer.ts';
import { MethodSupport } from '../rpc/method-support.ts';
import { minContextSlotOf } from '../rpc/response-slot.ts';
import { RpcClient } from '../rpc/rpc-client.ts';
import type { RpcResponse } from '../rpc/rpc-response.ts';
import type { NodeOptions, UpstreamDeps } from '../upstream-options.ts';
import type { NodeStatus } from './mesh.ts';
import { NodeQuarantine } from './node-quarantine.ts';
import type { Candidate } from './node-selection.ts';
import type { SlotConsensus } from './slot-consensus.ts';

/** Between two looks at a node: what its WebSocket doesn't tell is asked for over HTTP so often. */
const POLL_MS = 1000;
/** A node further behind the best one is out, and back in when it is nearer than the second number. */
export const MAX_LAG_SLOTS = 20;
const RECOVERED_LAG_SLOTS = 10;
/** Receipts are bound to it, and operators are shown it: nothing else may pass for one. */
const GENESIS_HASH = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

const STATUS_RANK = { ok: 0, behind: 3, stalled: 4, down: 5 } as const;
const UNSUPPORTED_RANK = 10;

export interface MeshNodeOptions {
  readonly node: NodeOptions;
  readonly deps: UpstreamDeps;
  readonly budget: ByteBudget;
  readonly consensus: SlotConsensus;
  onProblem(nodeId: string, problem: string): void;
}

/** What a reading must keep to. */
export interface CallBounds {
  /** The commitment of one that names none. */
  readonly anchorCommitment: Commitment;
  /** It must not be older. Default: the `minContextSlot` that the node is given. */
  readonly minSlot?: Slot;
  /** When it is too late, in monotonic milliseconds, if that is before the node's own time is up. */
  readonly deadlineMs?: number;
}

/** One node of the mesh: let in only with the right genesis hash, watched, and asked for slots when its feed is quiet. */
export class MeshNode {
  readonly id: string;
  readonly client: RpcClient;
  readonly methodSupport: MethodSupport;
  readonly sessions: NodeSessions;
  readonly #options: MeshNodeOptions;
  /** When the feed last told of each commitment. */
  readonly #lastUpdateMs = new Map<Commitment, number>();
  readonly #quarantine: NodeQuarantine;
  #feed: ReconnectingFeed | undefined;
  #genesisCheck: Promise<string> | undefined;
  #isBehind = false;
  #cancelPoll = (): void => {};
  #isClosed = false;

  constructor(options: MeshNodeOptions) {
    const { node, deps, budget, consensus, onProblem } = options;
    this.#options = options;
    this.id = node.id;
    this.client = new RpcClient(node, deps, (commitment, slot) => this.#onSlot(commitment, slot), budget);
    this.methodSupport = new MethodSupport(deps.clock, node.methods);
    this.#quarantine = new NodeQuarantine(node.id, consensus, onProblem);
    this.sessions = new NodeSessions({
      node,
      deps,
      verifyGenesis: () => this.#reverifyGenesis(), // whoever answers there may be another
      call: (method, params, { commitment = 'confirmed' }) =>
        this.call(method, params, { anchorCommitment: commitment }),
      acceptsSlot: (commitment, slot) => {
        this.client.slots.observe(commitment, slot);
        return this.isTrusted && consensus.isAccepted(commitment, slot);
      },
    });
  }

  get isArchival(): boolean {
    return this.#options.node.archival ?? false;
  }

  /** False for a node that is not to be read from, however badly it goes with the others. */
  get isTrusted(): boolean {
    return this.#quarantine.isTrusted;
  }

  /** How good a choice the node is for a read that must not be older than `floor`. Lower is better. */
  candidateFor(method: RpcMethod, commitment: Commitment = 'confirmed', minSlot: Slot = 0): Candidate {
    const rank = STATUS_RANK[this.#health];
    const isBelowMinSlot = (this.client.slots.latest(commitment) ?? 0) < minSlot;
    const { weight = 1 } = this.#options.node;
    return {
      rank:
        Math.max(rank, isBelowMinSlot ? 1 : 0, this.client.isHung ? 2 : 0) +
        (this.methodSupport.isUnsupported(method) ? UNSUPPORTED_RANK : 0),
      pull: weight / (1 + this.client.meanLatencyMs),
      id: this.id,
      weight,
    };
  }

  /** All is well with it. */
  get isHealthy(): boolean {
    return this.#health === 'ok';
  }

  /** It goes on, but with slots that are not those of the others. */
  get isOutOfSync(): boolean {
    return !this.isTrusted || this.#health === 'behind';
  }

  /** Tells the others once more of the slots that the node has shown. */
  replaySlots(): void {
    for (const commitment of COMMITMENTS) {
      const slot = this.client.slots.latest(commitment);
      if (slot !== undefined) this.#onSlot(commitment, slot);
    }
  }

  /** Begins to follow the node. */
  start(): void {
    const { node, deps, onProblem } = this.#options;
    this.#feed = new ReconnectingFeed({
      node,
      deps,
      verifyGenesis: () => this.#reverifyGenesis(),
      onStatus: (status, reason) => {
        if (status === 'up' || this.#isClosed) return;
        this.#genesisCheck = undefined; // whoever answers after a loss may be another
        onProblem(this.id, `the WebSocket ${reason}`);
      },
    });
    subscribeToSlots(
      this.#feed,
      (commitment, slot) => {
        this.#lastUpdateMs.set(commitment, deps.clock.monotonic());
        this.client.slots.observe(commitment, slot);
      },
      (what) => onProblem(this.id, `refuses a subscription to ${what}`),
    );
    this.#schedulePoll();
  }

  /**
   * Makes sure that the node is of our cluster and has shown a slot at each commitment; resolves to its genesis hash.
   * Asks only when the node has been out of touch since the last time.
   */
  verifyGenesis(): Promise<string> {
    if (this.#genesisCheck !== undefined) return this.#genesisCheck;
    const check = this.#checkGenesis();
    this.#genesisCheck = check;
    check.catch(() => {
      if (this.#genesisCheck === check) this.#genesisCheck = undefined;
    });
    return check;
  }

  /** Reads as `Node.read` does, and refuses what is older than asked for (I8) or tells of a slot not believed (I16). */
  async call(
    method: RpcMethod,
    params: readonly unknown[],
    { anchorCommitment, minSlot = minContextSlotOf(params) ?? 0, deadlineMs }: CallBounds,
  ): Promise<RpcResponse> {
    await this.verifyGenesis();
    try {
      const response = await this.client.call(method, params, anchorCommitment, deadlineMs);
      this.#checkSlot(response.slot, minSlot);
      return response;
    } catch (thrown) {
      if (this.client.isFailing) this.#genesisCheck = undefined; // whoever answers next may be another
      if (thrown instanceof GatewayError) this.methodSupport.record(method, thrown);
      throw thrown;
    }
  }

  /** Takes note that it, or another, is at a new slot: so it is out and back by what was shown, whoever asks and when. */
  updateLag(): void {
    const { consensus } = this.#options;
    const lag = Math.max(
      ...COMMITMENTS.map((commitment) => {
        const latest = this.client.slots.latest(commitment);
        return latest === undefined ? 0 : (consensus.tip(commitment) ?? 0) - latest;
      }),
    );
    this.#isBehind = lag > (this.#isBehind ? RECOVERED_LAG_SLOTS - 1 : MAX_LAG_SLOTS);
  }

  /** How the node looks beside the others. */
  status(): NodeStatus {
    const { consensus } = this.#options;
    const slot = this.client.slots.latest('processed') ?? null;
    const tip = consensus.tip('processed');
    return {
      id: this.id,
      status: this.#health,
      slot,
      behindSlots: slot === null || tip === undefined ? null : Math.max(0, tip - slot),
      ws: this.#feed?.status ?? 'down',
      refusedFor: this.#quarantine.reason ?? null,
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelPoll();
    this.#feed?.close();
    this.sessions.close();
    await this.client.close();
  }

  get #health(): NodeStatus['status'] {
    const { slots, isFailing, breaker } = this.client;
    if (!this.isTrusted || isFailing || breaker.isOpen || slots.latest('processed') === undefined) return 'down';
    if (slots.unchangedMs > this.#options.deps.settings.silenceMs) return 'stalled';
    return this.#isBehind ? 'behind' : 'ok';
  }

  /** The node shows a slot. */
  #onSlot(commitment: Commitment, slot: Slot): void {
    const { consensus } = this.#options;
    for (const impliedCommitment of impliedCommitments(commitment)) {
      consensus.observe(this.id, impliedCommitment, this.client.slots.latest(impliedCommitment) ?? slot);
    }
    if (this.#quarantine.observe(commitment, slot)) consensus.advanceTip(commitment, slot);
    this.updateLag();
  }

  #checkSlot(slot: Slot, minSlot: Slot): void {
    const { consensus } = this.#options;
    if (!consensus.isAccepted('processed', slot)) consensus.observe(this.id, 'processed', slot);
    if (!this.isTrusted || !consensus.isAccepted('processed', slot)) {
      throw new GatewayError('upstream_error', 'a node tells of slots that are not believed');
    }
    if (slot < minSlot) throw minContextSlotNotReached();
  }

  #reverifyGenesis(): Promise<string> {
    this.#genesisCheck = undefined;
    return this.verifyGenesis();
  }

  async #checkGenesis(): Promise<string> {
    const hash = parseString(await this.client.request('getGenesisHash', []));
    if (!GENESIS_HASH.test(hash)) throw new GatewayError('upstream_error', 'a node gave no genesis hash');
    if (!this.#quarantine.verifyGenesis(hash)) throw noNodeReachable();
    await this.#pollSlots(COMMITMENTS.filter((commitment) => this.client.slots.latest(commitment) === undefined));
    return hash;
  }

  #schedulePoll(): void {
    const poll = () => {
      // A failure shows in the node's status, and the next look comes all the same.
      this.#poll().then(
        () => this.#schedulePoll(),
        () => this.#schedulePoll(),
      );
    };
    if (!this.#isClosed) this.#cancelPoll = this.#options.deps.clock.after(POLL_MS, poll);
  }

  async #poll(): Promise<void> {
    const now = this.#options.deps.clock.monotonic();
    const isQuiet = (commitment: Commitment) =>
      now - (this.#lastUpdateMs.get(commitment) ?? Number.NEGATIVE_INFINITY) >= POLL_MS;
    await this.verifyGenesis();
    await this.#pollSlots(
      COMMITMENTS.filter((commitment) => this.client.isFailing || this.client.breaker.isOpen || isQuiet(commitment)),
    );
  }

  async #pollSlots(commitments: readonly Commitment[]): Promise<void> {
    await Promise.all(commitments.map((commitment) => this.client.call('getSlot', [{ commitment }], commitment)));
  }
}
