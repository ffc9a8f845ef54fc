import { COMMITMENTS, type Commitment, reachedWith } from '../../domain/commitment.ts';
import { GatewayError } from '../../domain/error.ts';
import type { Read } from '../../domain/read-method.ts';
import type { Slot } from '../../domain/slot.ts';
import type { ByteBudget } from '../failsafe/byte-budget.ts';
import { text } from '../json/raw-json.ts';
import type { NodeOptions, Surroundings } from '../options.ts';
import { followSlots } from '../pubsub/beacon.ts';
import { Feed } from '../pubsub/feed.ts';
import { NodeLines } from '../pubsub/node-lines.ts';
import type { Reading } from '../rpc/call.ts';
import { Node } from '../rpc/node.ts';
import { floorOf } from '../rpc/reading.ts';
import { notReached, unreachable } from '../rpc/rpc-errors.ts';
import { Skills } from '../rpc/skills.ts';
import type { Candidate } from './choice.ts';
import type { NodeStatus } from './mesh.ts';
import { NodeTrust } from './node-trust.ts';
import type { Peers } from './peers.ts';

/** Between two looks at a node: what its WebSocket doesn't tell is asked for over HTTP so often. */
const LOOK_MS = 1000;
/** A node further behind the best one is out, and back in when it is nearer than the second number. */
export const BEHIND_SLOTS = 20;
const CAUGHT_UP_SLOTS = 10;
/** Receipts are bound to it, and operators are shown it: nothing else may pass for one. */
const GENESIS_HASH = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

const STATUS_RANK = { ok: 0, behind: 3, stalled: 4, down: 5 } as const;
const LACKING_RANK = 10;

export interface MemberOptions {
  readonly node: NodeOptions;
  readonly surroundings: Surroundings;
  readonly budget: ByteBudget;
  readonly peers: Peers;
  onProblem(nodeId: string, problem: string): void;
}

/** What a reading must keep to. */
export interface ReadBounds {
  /** The commitment of one that names none. */
  readonly anchorAt: Commitment;
  /** It must not be older. Default: the `minContextSlot` that the node is given. */
  readonly floor?: Slot;
  /** When it is too late, in monotonic milliseconds, if that is before the node's own time is up. */
  readonly endMs?: number;
}

/** One node of the mesh: let in only with the right genesis hash, watched, and asked for slots when its feed is quiet. */
export class Member {
  readonly id: string;
  readonly node: Node;
  readonly skills: Skills;
  readonly lines: NodeLines;
  readonly #options: MemberOptions;
  /** When the feed last told of each commitment. */
  readonly #fedAt = new Map<Commitment, number>();
  readonly #trust: NodeTrust;
  #feed: Feed | undefined;
  #admission: Promise<string> | undefined;
  #behind = false;
  #cancelLook = (): void => {};
  #closed = false;

  constructor(options: MemberOptions) {
    const { node, surroundings, budget, peers, onProblem } = options;
    this.#options = options;
    this.id = node.id;
    this.node = new Node(node, surroundings, (commitment, slot) => this.#take(commitment, slot), budget);
    this.skills = new Skills(surroundings.clock, node.methods);
    this.#trust = new NodeTrust(node.id, peers, onProblem);
    this.lines = new NodeLines({
      node,
      surroundings,
      admit: () => this.#admitAgain(), // whoever answers there may be another
      call: (method, params, { commitment = 'confirmed' }) => this.read(method, params, { anchorAt: commitment }),
      believes: (commitment, slot) => {
        this.node.seen.show(commitment, slot);
        return this.trusted && peers.believes(commitment, slot);
      },
    });
  }

  get archival(): boolean {
    return this.#options.node.archival ?? false;
  }

  /** False for a node that is not to be read from, however badly it goes with the others. */
  get trusted(): boolean {
    return this.#trust.holds;
  }

  /** How good a choice the node is for a read that must not be older than `floor`. Lower is better. */
  choice(method: Read, commitment: Commitment = 'confirmed', floor: Slot = 0): Candidate {
    const rank = STATUS_RANK[this.#standing];
    const early = (this.node.seen.latest(commitment) ?? 0) < floor;
    const { weight = 1 } = this.#options.node;
    return {
      rank: Math.max(rank, early ? 1 : 0, this.node.hung ? 2 : 0) + (this.skills.lacks(method) ? LACKING_RANK : 0),
      pull: weight / (1 + this.node.meanMs),
      id: this.id,
      weight,
    };
  }

  /** All is well with it. */
  get fit(): boolean {
    return this.#standing === 'ok';
  }

  /** It goes on, but with slots that are not those of the others. */
  get out(): boolean {
    return !this.trusted || this.#standing === 'behind';
  }

  /** Tells the others once more of the slots that the node has shown. */
  showAgain(): void {
    for (const commitment of COMMITMENTS) {
      const slot = this.node.seen.latest(commitment);
      if (slot !== undefined) this.#take(commitment, slot);
    }
  }

  /** Begins to follow the node. */
  start(): void {
    const { node, surroundings, onProblem } = this.#options;
    this.#feed = new Feed({
      node,
      surroundings,
      admit: () => this.#admitAgain(),
      onStatus: (status, reason) => {
        if (status === 'up' || this.#closed) return;
        this.#admission = undefined; // whoever answers after a loss may be another
        onProblem(this.id, `the WebSocket ${reason}`);
      },
    });
    followSlots(
      this.#feed,
      (commitment, slot) => {
        this.#fedAt.set(commitment, surroundings.clock.monotonic());
        this.node.seen.show(commitment, slot);
      },
      (what) => onProblem(this.id, `refuses a subscription to ${what}`),
    );
    this.#lookLater();
  }

  /**
   * Makes sure that the node is of our cluster and has shown a slot at each commitment; resolves to its genesis hash.
   * Asks only when the node has been out of touch since the last time.
   */
  admit(): Promise<string> {
    if (this.#admission !== undefined) return this.#admission;
    const admission = this.#identify();
    this.#admission = admission;
    admission.catch(() => {
      if (this.#admission === admission) this.#admission = undefined;
    });
    return admission;
  }

  /** Reads as `Node.read` does, and refuses what is older than asked for (I8) or tells of a slot not believed (I16). */
  async read(
    method: Read,
    params: readonly unknown[],
    { anchorAt, floor = floorOf(params) ?? 0, endMs }: ReadBounds,
  ): Promise<Reading> {
    await this.admit();
    try {
      const reading = await this.node.read(method, params, anchorAt, endMs);
      this.#check(reading.slot, floor);
      return reading;
    } catch (thrown) {
      if (this.node.failing) this.#admission = undefined; // whoever answers next may be another
      if (thrown instanceof GatewayError) this.skills.learn(method, thrown);
      throw thrown;
    }
  }

  /** Takes note that it, or another, is at a new slot: so it is out and back by what was shown, whoever asks and when. */
  compare(): void {
    const { peers } = this.#options;
    const lag = Math.max(
      ...COMMITMENTS.map((commitment) => {
        const latest = this.node.seen.latest(commitment);
        return latest === undefined ? 0 : (peers.tip(commitment) ?? 0) - latest;
      }),
    );
    this.#behind = lag > (this.#behind ? CAUGHT_UP_SLOTS - 1 : BEHIND_SLOTS);
  }

  /** How the node looks beside the others. */
  status(): NodeStatus {
    const { peers } = this.#options;
    const slot = this.node.seen.latest('processed') ?? null;
    const best = peers.tip('processed');
    return {
      id: this.id,
      status: this.#standing,
      slot,
      behindSlots: slot === null || best === undefined ? null : Math.max(0, best - slot),
      ws: this.#feed?.status ?? 'down',
      refusedFor: this.#trust.problem ?? null,
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelLook();
    this.#feed?.close();
    this.lines.close();
    await this.node.close();
  }

  get #standing(): NodeStatus['status'] {
    const { seen, failing, breaker } = this.node;
    if (!this.trusted || failing || breaker.open || seen.latest('processed') === undefined) return 'down';
    if (seen.quietMs > this.#options.surroundings.settings.silenceMs) return 'stalled';
    return this.#behind ? 'behind' : 'ok';
  }

  /** The node shows a slot. */
  #take(commitment: Commitment, slot: Slot): void {
    const { peers } = this.#options;
    for (const reached of reachedWith(commitment)) {
      peers.show(this.id, reached, this.node.seen.latest(reached) ?? slot);
    }
    if (this.#trust.take(commitment, slot)) peers.reached(commitment, slot);
    this.compare();
  }

  #check(slot: Slot, floor: Slot): void {
    const { peers } = this.#options;
    if (!peers.believes('processed', slot)) peers.show(this.id, 'processed', slot);
    if (!this.trusted || !peers.believes('processed', slot)) {
      throw new GatewayError('upstream_error', 'a node tells of slots that are not believed');
    }
    if (slot < floor) throw notReached();
  }

  #admitAgain(): Promise<string> {
    this.#admission = undefined;
    return this.admit();
  }

  async #identify(): Promise<string> {
    const hash = text(await this.node.ask('getGenesisHash', []));
    if (!GENESIS_HASH.test(hash)) throw new GatewayError('upstream_error', 'a node gave no genesis hash');
    if (!this.#trust.belongs(hash)) throw unreachable();
    await this.#ask(COMMITMENTS.filter((commitment) => this.node.seen.latest(commitment) === undefined));
    return hash;
  }

  #lookLater(): void {
    const look = () => {
      // A failure shows in the node's status, and the next look comes all the same.
      this.#look().then(
        () => this.#lookLater(),
        () => this.#lookLater(),
      );
    };
    if (!this.#closed) this.#cancelLook = this.#options.surroundings.clock.after(LOOK_MS, look);
  }

  async #look(): Promise<void> {
    const now = this.#options.surroundings.clock.monotonic();
    const quiet = (commitment: Commitment) =>
      now - (this.#fedAt.get(commitment) ?? Number.NEGATIVE_INFINITY) >= LOOK_MS;
    await this.admit();
    await this.#ask(
      COMMITMENTS.filter((commitment) => this.node.failing || this.node.breaker.open || quiet(commitment)),
    );
  }

  async #ask(commitments: readonly Commitment[]): Promise<void> {
    await Promise.all(commitments.map((commitment) => this.node.read('getSlot', [{ commitment }], commitment)));
  }
}
