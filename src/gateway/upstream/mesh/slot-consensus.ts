import type { Clock } from '../../../shared/domain/clock.ts';
import { COMMITMENTS, type Commitment, impliedCommitments } from '../../../shared/domain/commitment.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import type { NodeSlots } from '../rpc/node-slots.ts';
import { JumpGuard } from './jump-guard.ts';
import { MeshTips } from './mesh-tips.ts';
import { NodeQuarantine } from './node-quarantine.ts';

export interface SlotConsensusOptions {
  readonly clock: Clock;
  readonly settings: { readonly maxSlotJump: number; readonly recoverySlots: number; readonly idleTimeoutMs: number };
  /** Genesis hash of the cluster. Without one the first node to answer decides. */
  readonly expectedGenesisHash: string | undefined;
  onQuarantine(nodeId: string, reason: string): void;
}

/**
 * Decides which of the slots that nodes report are accepted, and so the tips of the mesh, and which nodes are
 * quarantined: those of another cluster (I10), those whose ledger went back (I13) and those whose slots jump (I16).
 */
export class SlotConsensus {
  /** The newest accepted slots, with the parents that trusted nodes and other gateways name. */
  readonly tips = new MeshTips();
  readonly #options: SlotConsensusOptions;
  readonly #guards: Readonly<Record<Commitment, JumpGuard>>;
  readonly #quarantines = new Map<string, NodeQuarantine>();
  #genesisHash: string | undefined;
  #isStarted = false;

  constructor(options: SlotConsensusOptions) {
    const { clock, settings, expectedGenesisHash } = options;
    this.#options = options;
    this.#genesisHash = expectedGenesisHash;
    const createGuard = (): JumpGuard => new JumpGuard({ clock, ...settings });
    this.#guards = { processed: createGuard(), confirmed: createGuard(), finalized: createGuard() };
  }

  /** Starts to accept slots. Until then it accepts none, while the mesh collects the first slots of all nodes. */
  start(): void {
    this.#isStarted = true;
  }

  /** Returns true if a node's genesis hash is that of the cluster, and quarantines the node if not (I10). */
  verifyGenesis(nodeId: string, genesisHash: string): boolean {
    this.#genesisHash ??= genesisHash;
    const quarantine = this.quarantineOf(nodeId);
    quarantine.onGenesis(genesisHash, this.#genesisHash);
    return !quarantine.isForeign;
  }

  /** Observes a slot that a node reports, given the latest of its slots. Advances the tips where it is accepted. */
  observe(nodeId: string, commitment: Commitment, slot: Slot, slots: NodeSlots): void {
    for (const implied of impliedCommitments(commitment)) {
      this.#observeJump(nodeId, implied, slots.latest(implied) ?? slot);
    }
    const isAccepted = this.quarantineOf(nodeId).observe(commitment, slot, this.isAccepted(commitment, slot));
    if (isAccepted) this.tips.observe(commitment, slot);
  }

  /** Returns true if what a node, or its feed, says of this slot may be used, and observes the slot if it is new (I16). */
  acceptsSlot(nodeId: string, commitment: Commitment, slot: Slot): boolean {
    if (!this.isAccepted(commitment, slot)) this.#observeJump(nodeId, commitment, slot);
    return this.isTrusted(nodeId) && this.isAccepted(commitment, slot);
  }

  isAccepted(commitment: Commitment, slot: Slot): boolean {
    return this.#guards[commitment].isAccepted(slot);
  }

  /** Returns true if a node may be called: it is not quarantined. */
  isTrusted(nodeId: string): boolean {
    return !this.quarantineOf(nodeId).isActive;
  }

  /** The slot time in milliseconds, measured by the accepted slots of each node. */
  get slotTimeMs(): number {
    return this.#guards.processed.slotTimeMs;
  }

  #observeJump(nodeId: string, commitment: Commitment, slot: Slot): void {
    if (this.#isStarted) this.#guards[commitment].observe(nodeId, slot);
  }

  /** Returns the quarantine of a node, active or not. */
  quarantineOf(nodeId: string): Readonly<NodeQuarantine> {
    const known = this.#quarantines.get(nodeId);
    if (known !== undefined) return known;
    const quarantine = new NodeQuarantine({
      isSuspect: () => COMMITMENTS.some((commitment) => this.#guards[commitment].isSuspect(nodeId)),
      onQuarantine: (reason) => this.#options.onQuarantine(nodeId, reason),
    });
    this.#quarantines.set(nodeId, quarantine);
    return quarantine;
  }
}
