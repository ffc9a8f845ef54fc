import type { Commitment } from '../../../shared/domain/commitment.ts';
import type { Slot } from '../../../shared/domain/slot.ts';

/** Distance below its highest accepted slot from which on a node doesn't lag, but has another ledger (I13). */
const RESET_SLOTS = 1000;
const NOT_ACCEPTED = 'it reports slots that are not accepted';

export interface NodeQuarantineOptions {
  isSuspect(): boolean;
  onQuarantine(reason: string): void;
}

/** Keeps one node out of use while it is of another cluster, its ledger went back, its slots jumped ahead, or others contradict it. */
export class NodeQuarantine {
  readonly #options: NodeQuarantineOptions;
  readonly #accepted = new Map<Commitment, Slot>();
  isForeign = false;
  #hasGoneBack = false;
  #isContradicted = false;
  #wasSuspect = false;
  /** Reason of the latest quarantine; until {@link observe} knows more, that a slot is not accepted. */
  #reason = NOT_ACCEPTED;

  constructor(options: NodeQuarantineOptions) {
    this.#options = options;
  }

  get isActive(): boolean {
    return this.isForeign || this.#hasGoneBack || this.#isContradicted || this.#options.isSuspect();
  }

  /** Reason for the quarantine; undefined while there is none. */
  get reason(): string | undefined {
    return this.isActive ? this.#reason : undefined;
  }

  onGenesis(genesisHash: string, expected: string): void {
    const isForeign = genesisHash !== expected;
    if (isForeign && !this.isForeign)
      this.#start(`it is of another cluster: its genesis hash is ${genesisHash}, not ${expected}`);
    this.isForeign = isForeign;
  }

  /** Keeps the node out of use for as long as the process runs: two operators contradict it again and again. */
  contradict(reason: string): void {
    if (this.#isContradicted) return;
    this.#isContradicted = true;
    this.#start(reason);
  }

  /** Observes a slot of the node. Returns whether it counts: whether it is accepted and the node has not gone back. */
  observe(commitment: Commitment, slot: Slot, isAccepted: boolean): boolean {
    const highest = this.#accepted.get(commitment) ?? 0;
    const hasGoneBack = highest - slot > RESET_SLOTS;
    if (hasGoneBack && !this.#hasGoneBack) this.#start(`it went back from slot ${highest} to ${slot}`);
    this.#hasGoneBack = hasGoneBack;
    const isSuspect = this.#options.isSuspect();
    if (isSuspect && !this.#wasSuspect) this.#start(`it jumped to slot ${slot}`);
    this.#wasSuspect = isSuspect;
    if (!this.isActive) this.#reason = NOT_ACCEPTED;
    if (hasGoneBack || !isAccepted) return false;
    this.#accepted.set(commitment, Math.max(slot, highest));
    return true;
  }

  #start(reason: string): void {
    this.#reason = reason;
    this.#options.onQuarantine(reason);
  }
}
