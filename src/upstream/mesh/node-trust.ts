import type { Commitment } from '../../domain/commitment.ts';
import type { Slot } from '../../domain/slot.ts';
import type { Peers } from './peers.ts';

/** So far below what it has shown before, a node is no laggard: its ledger is another (I13). */
const RESET_SLOTS = 1000;

const NOT_BELIEVED = 'is not believed';

/** Whether one node is to be read from: not while it is of another cluster, has gone back, or has jumped ahead. */
export class NodeTrust {
  readonly #id: string;
  readonly #peers: Peers;
  readonly #onProblem: (nodeId: string, problem: string) => void;
  /** The highest slots that were believed of it. */
  readonly #accepted = new Map<Commitment, Slot>();
  #stranger = false;
  #reset = false;
  #doubted = false;
  /** Why trust was lost last; until {@link take} knows more, that a slot is not believed. */
  #problem = NOT_BELIEVED;

  /** `onProblem` is told once each time that trust is lost. */
  constructor(id: string, peers: Peers, onProblem: (nodeId: string, problem: string) => void) {
    this.#id = id;
    this.#peers = peers;
    this.#onProblem = onProblem;
  }

  get holds(): boolean {
    return !this.#stranger && !this.#reset && !this.#peers.doubts(this.#id);
  }

  /** Why it is not to be read from; undefined while it is. */
  get problem(): string | undefined {
    return this.holds ? undefined : this.#problem;
  }

  /** The node names its genesis hash. Returns whether it is of our cluster. */
  belongs(genesisHash: string): boolean {
    const stranger = !this.#peers.belongs(genesisHash);
    if (stranger && !this.#stranger) this.#lost(`is of another cluster: its genesis hash is ${genesisHash}`);
    this.#stranger = stranger;
    return !stranger;
  }

  /** The node shows a slot. Returns whether it is believed. */
  take(commitment: Commitment, slot: Slot): boolean {
    const accepted = this.#accepted.get(commitment) ?? 0;
    const reset = accepted - slot > RESET_SLOTS;
    if (reset && !this.#reset) this.#lost(`is refused: it has gone back from slot ${accepted} to ${slot}`);
    this.#reset = reset;
    const doubted = this.#peers.doubts(this.#id);
    if (doubted && !this.#doubted) this.#lost(`${NOT_BELIEVED}: it has jumped to slot ${slot}`);
    this.#doubted = doubted;
    if (this.holds) this.#problem = NOT_BELIEVED; // what was is over
    if (reset || !this.#peers.believes(commitment, slot)) return false;
    this.#accepted.set(commitment, Math.max(slot, accepted));
    return true;
  }

  #lost(problem: string): void {
    this.#problem = problem;
    this.#onProblem(this.#id, problem);
  }
}
