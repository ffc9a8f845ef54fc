import type { Commitment } from '../../domain/commitment.ts';
import type { Slot } from '../../domain/slot.ts';
import type { SlotConsensus } from './slot-consensus.ts';

/** So far below what it has shown before, a node is no laggard: its ledger is another (I13). */
const RESET_SLOTS = 1000;

const NOT_ACCEPTED = 'is not believed';

/** Whether one node is to be read from: not while it is of another cluster, has gone back, or has jumped ahead. */
export class NodeQuarantine {
  readonly #nodeId: string;
  readonly #consensus: SlotConsensus;
  readonly #onProblem: (nodeId: string, problem: string) => void;
  /** The highest slots that were believed of it. */
  readonly #accepted = new Map<Commitment, Slot>();
  #isForeign = false;
  #hasGoneBack = false;
  #isSuspect = false;
  /** Why trust was lost last; until {@link observe} knows more, that a slot is not believed. */
  #reason = NOT_ACCEPTED;

  /** `onProblem` is told once each time that trust is lost. */
  constructor(nodeId: string, consensus: SlotConsensus, onProblem: (nodeId: string, problem: string) => void) {
    this.#nodeId = nodeId;
    this.#consensus = consensus;
    this.#onProblem = onProblem;
  }

  get isTrusted(): boolean {
    return !this.#isForeign && !this.#hasGoneBack && !this.#consensus.isSuspect(this.#nodeId);
  }

  /** Why it is not to be read from; undefined while it is. */
  get reason(): string | undefined {
    return this.isTrusted ? undefined : this.#reason;
  }

  /** The node names its genesis hash. Returns whether it is of our cluster. */
  verifyGenesis(genesisHash: string): boolean {
    const isForeign = !this.#consensus.verifyGenesis(genesisHash);
    if (isForeign && !this.#isForeign) this.#quarantine(`is of another cluster: its genesis hash is ${genesisHash}`);
    this.#isForeign = isForeign;
    return !isForeign;
  }

  /** The node shows a slot. Returns whether it is believed. */
  observe(commitment: Commitment, slot: Slot): boolean {
    const accepted = this.#accepted.get(commitment) ?? 0;
    const hasGoneBack = accepted - slot > RESET_SLOTS;
    if (hasGoneBack && !this.#hasGoneBack)
      this.#quarantine(`is refused: it has gone back from slot ${accepted} to ${slot}`);
    this.#hasGoneBack = hasGoneBack;
    const isSuspect = this.#consensus.isSuspect(this.#nodeId);
    if (isSuspect && !this.#isSuspect) this.#quarantine(`${NOT_ACCEPTED}: it has jumped to slot ${slot}`);
    this.#isSuspect = isSuspect;
    if (this.isTrusted) this.#reason = NOT_ACCEPTED; // what was is over
    if (hasGoneBack || !this.#consensus.isAccepted(commitment, slot)) return false;
    this.#accepted.set(commitment, Math.max(slot, accepted));
    return true;
  }

  #quarantine(reason: string): void {
    this.#reason = reason;
    this.#onProblem(this.#nodeId, reason);
  }
}
