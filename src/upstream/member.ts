import { COMMITMENTS, type Commitment } from '../domain/commitment.ts';
import { GatewayError } from '../domain/error.ts';
import { followSlots } from './beacon.ts';
import { Feed } from './feed.ts';
import { type Line, openLine } from './line.ts';
import type { NodeStatus, Reading } from './mesh.ts';
import { Node } from './node.ts';
import type { NodeOptions, Surroundings } from './options.ts';
import { text } from './raw-json.ts';
import type { Read } from './reading.ts';

/** Between two looks at a node: what its WebSocket doesn't tell is asked for over HTTP so often. */
const LOOK_MS = 1000;
/** A node further behind the best one is out, and back in when it is nearer than the second number. */
const BEHIND_SLOTS = 20;
const CAUGHT_UP_SLOTS = 10;
/** Receipts are bound to it, and operators are shown it: nothing else may pass for one. */
const GENESIS_HASH = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

export interface MemberOptions {
  readonly node: NodeOptions;
  readonly surroundings: Surroundings;
  /** Whether a node with this genesis hash belongs to the mesh. */
  belongs(genesisHash: string): boolean;
  onProblem(nodeId: string, problem: string): void;
}

/** One node of the mesh: let in only with the right genesis hash, watched, and asked for slots when its feed is quiet. */
export class Member {
  readonly id: string;
  readonly node: Node;
  readonly #options: MemberOptions;
  /** When the feed last told of each commitment. */
  readonly #fedAt = new Map<Commitment, number>();
  #feed: Feed | undefined;
  #admission: Promise<string> | undefined;
  #refused = false;
  #behind = false;
  #cancelLook = (): void => {};
  #closed = false;

  constructor(options: MemberOptions) {
    this.#options = options;
    this.id = options.node.id;
    this.node = new Node(options.node, options.surroundings);
  }

  /** True for a node of another cluster. It is never read from. */
  get refused(): boolean {
    return this.#refused;
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
        this.node.tips.show(commitment, slot);
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
    const admission = this.#check();
    this.#admission = admission;
    admission.catch(() => {
      if (this.#admission === admission) this.#admission = undefined;
    });
    return admission;
  }

  async read(method: Read, params: readonly unknown[], anchorAt: Commitment): Promise<Reading> {
    await this.admit();
    try {
      return await this.node.read(method, params, anchorAt);
    } catch (thrown) {
      if (this.node.failing) this.#admission = undefined; // whoever answers next may be another
      throw thrown;
    }
  }

  /** Opens a connection of its own to the node. */
  openLine(): Promise<Line> {
    const { node, surroundings } = this.#options;
    return openLine({
      node,
      surroundings,
      admit: () => this.#admitAgain(), // whoever answers there may be another
      call: (method, params, { commitment = 'confirmed' }) => this.read(method, params, commitment),
    });
  }

  /** How the node looks beside `best`, the newest processed slot of the whole mesh. */
  status(best: number | undefined): NodeStatus {
    const slot = this.node.tips.newest('processed') ?? null;
    const behindSlots = slot === null || best === undefined ? null : Math.max(0, best - slot);
    this.#behind = (behindSlots ?? 0) > (this.#behind ? CAUGHT_UP_SLOTS - 1 : BEHIND_SLOTS);
    return { id: this.id, status: this.#standing(), slot, behindSlots, ws: this.#feed?.status ?? 'down' };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelLook();
    this.#feed?.close();
    await this.node.close();
  }

  #standing(): NodeStatus['status'] {
    const { tips, failing } = this.node;
    if (this.#refused || failing || tips.newest('processed') === undefined) return 'down';
    if (tips.quietMs('processed') > this.#options.surroundings.settings.silenceMs) return 'stalled';
    return this.#behind ? 'behind' : 'ok';
  }

  #admitAgain(): Promise<string> {
    this.#admission = undefined;
    return this.admit();
  }

  async #check(): Promise<string> {
    const { belongs, onProblem } = this.#options;
    const hash = text(await this.node.ask('getGenesisHash', []));
    if (!GENESIS_HASH.test(hash)) throw new GatewayError('upstream_error', 'a node gave no genesis hash');
    const known = this.#refused;
    this.#refused = !belongs(hash);
    if (this.#refused) {
      if (!known) onProblem(this.id, `is of another cluster: its genesis hash is ${hash}`);
      throw new GatewayError('upstream_unavailable', 'no node of the cluster can be reached');
    }
    await this.#ask(COMMITMENTS.filter((commitment) => this.node.tips.newest(commitment) === undefined));
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
    await this.#ask(COMMITMENTS.filter((commitment) => this.node.failing || quiet(commitment)));
  }

  async #ask(commitments: readonly Commitment[]): Promise<void> {
    await Promise.all(commitments.map((commitment) => this.node.read('getSlot', [{ commitment }], commitment)));
  }
}
