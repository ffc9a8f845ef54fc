/** An address that connects. */
export type PeerKey = number | bigint | string;

/** The turns without pipelining, one after the other, after which a peer may be answered later. */
const CLEAN_TURNS = 16;

/** The clean turns that a peer lacks after one of its connections was cut off. */
const TURNS_AFTER_CUT = 1000;
const MAX_PEERS = 10_000;

/** One turn of the event loop in which somebody could be answered later. */
interface Turn {
  readonly requestsBefore: number;
  readonly eventsBefore: number;
  readonly peers: Set<PeerKey>;
}

/**
 * Finds peers that may have more requests in flight on a connection, behind one that they send now (RFC 9112 9.3.2). The
 * engine closes a connection whose next request comes while an answer is pending, and shows neither which connection a
 * request came by nor what is behind it. But a turn of the event loop reads a socket once: where it has more requests than
 * it had events, somebody pipelines. So peers count as pipelining until some turns of theirs have shown that nobody does,
 * and again from each connection that they open: it may be of another program. A peer is an address that connects: a
 * caller, or a proxy of many.
 */
export class PipeliningDetector {
  readonly #polledEvents: () => number;
  /** The clean turns of each peer in a row; negative after one that was not. */
  readonly #cleanTurns = new Map<PeerKey, number>();
  #requests = 0;
  #turn: Turn | undefined;

  /** `polledEvents` counts the events of the loop up to this turn. */
  constructor(polledEvents: () => number) {
    this.#polledEvents = polledEvents;
  }

  /** Counts a request. Must be called for each, before the peer is looked up. */
  countRequest(): void {
    this.#requests++;
  }

  countConnection(peer: PeerKey): void {
    if ((this.#cleanTurns.get(peer) ?? 0) > 0) this.#cleanTurns.delete(peer);
  }

  /** Returns true if the peer may have more requests behind this one: it lacks turns without pipelining. */
  mayPipeline(peer: PeerKey): boolean {
    return this.#cleanTurnsOf(peer) < CLEAN_TURNS;
  }

  /** Returns true if the peer was seen pipelining lately, or while others did. */
  hasPipelined(peer: PeerKey): boolean {
    return this.#cleanTurnsOf(peer) < 0;
  }

  /** Records that a peer's connection was closed in the turn in which its answer became pending: more was behind it. */
  recordCutOff(peer: PeerKey): void {
    this.#remember(peer, -TURNS_AFTER_CUT);
  }

  #cleanTurnsOf(peer: PeerKey): number {
    this.#turn ??= this.#beginTurn();
    this.#turn.peers.add(peer);
    return this.#cleanTurns.get(peer) ?? 0;
  }

  #beginTurn(): Turn {
    setImmediate(() => this.#endTurn());
    return { requestsBefore: this.#requests - 1, eventsBefore: this.#polledEvents(), peers: new Set() };
  }

  #endTurn(): void {
    if (this.#turn === undefined) return;
    const { requestsBefore, eventsBefore, peers } = this.#turn;
    this.#turn = undefined;
    const isClean = this.#requests - requestsBefore <= this.#polledEvents() - eventsBefore;
    for (const peer of peers) {
      const cleanTurns = this.#cleanTurns.get(peer) ?? 0;
      this.#remember(peer, isClean ? Math.min(cleanTurns + 1, CLEAN_TURNS) : Math.min(cleanTurns, -CLEAN_TURNS));
    }
  }

  #remember(peer: PeerKey, cleanTurns: number): void {
    if (this.#cleanTurns.size >= MAX_PEERS && !this.#cleanTurns.has(peer)) this.#cleanTurns.clear();
    this.#cleanTurns.set(peer, cleanTurns);
  }
}
