import type { Commitment } from '../domain/commitment.ts';
import type { Slot } from '../domain/slot.ts';
import type { Claim } from './statement.ts';

/** The parts of a statement that decide its claim. */
export interface ClaimRequest {
  readonly request: string;
  readonly slot: Slot;
  readonly commitment: Commitment;
  readonly claim: Claim;
  readonly digest: string;
}

/** Decides which claim a statement may carry. */
export interface ClaimGuard {
  grantClaim(request: ClaimRequest): Claim;
}

/** Two results for the same request at the same slot. One of two nodes, or our own rendering, is wrong. */
export interface Conflict {
  readonly request: string;
  readonly slot: Slot;
  readonly signed: string;
  readonly refused: string;
}

const WINDOW_SLOTS = 64;
const MAX_ENTRIES = 100_000;

/** The part of them that newcomers leave to requests that had an exact claim at a slot before. */
const RESERVED_ENTRIES = 25_000;

/**
 * Keeps the gateway from signing two different `exact` results. Two `exact` receipts at finalized with different
 * digests convict their signer, so `exact` is granted only where the guard remembers every signed digest: once this
 * process alone signs, near the finalized tip, above the first tip seen since then (another process may have signed
 * below it), and within its memory limit. Elsewhere the claim is `observed`, which promises less and convicts nobody.
 */
export class EquivocationGuard implements ClaimGuard {
  readonly #digestsBySlot = new Map<Slot, Map<string, string>>();
  readonly #onConflict: (conflict: Conflict) => void;
  readonly #onFull: () => void;
  #isFull = false;
  #entries = 0;
  #isSole = false;
  #floor: Slot | undefined;
  #tip: Slot = 0;
  #conflicts = 0;

  /** `onFull` is called each time that the memory becomes full, from when on new requests are not granted `exact`. */
  constructor(onConflict: (conflict: Conflict) => void, onFull: () => void = () => {}) {
    this.#onConflict = onConflict;
    this.#onFull = onFull;
  }

  /** The number of conflicting results. */
  get conflicts(): number {
    return this.#conflicts;
  }

  /** The number of digests in memory. */
  get entries(): number {
    return this.#entries;
  }

  /** Whether no other process signs with the same keys. */
  get isSoleSigner(): boolean {
    return this.#isSole;
  }

  /** Records that no other process signs with the same keys from now on. */
  becomeSoleSigner(): void {
    this.#isSole = true;
  }

  /** Advances the finalized tip. Nothing is `exact` until the first call after {@link becomeSoleSigner}. */
  advance(tip: Slot): void {
    this.#tip = Math.max(this.#tip, tip);
    if (this.#isSole) this.#floor ??= this.#tip;
    for (const [slot, digests] of this.#digestsBySlot) {
      if (this.#isNearTip(slot)) continue;
      this.#entries -= digests.size;
      this.#digestsBySlot.delete(slot);
    }
    if (this.#entries < MAX_ENTRIES - 2 * RESERVED_ENTRIES) this.#isFull = false;
  }

  /** Returns the claim that a statement may carry. A digest that was granted `exact` counts as signed. */
  grantClaim({ request, slot, commitment, claim, digest }: ClaimRequest): Claim {
    if (claim !== 'exact' || commitment !== 'finalized') return 'observed';
    if (this.#floor === undefined || slot <= this.#floor || !this.#isNearTip(slot)) return 'observed';
    const signedDigest = this.#digestsBySlot.get(slot)?.get(request);
    if (signedDigest === undefined) return this.#remember(slot, request, digest) ? 'exact' : 'observed';
    if (signedDigest === digest) return 'exact';
    this.#conflicts++;
    this.#onConflict({ request, slot, signed: signedDigest, refused: digest });
    return 'observed';
  }

  /**
   * Tells whether a slot is within the window on either side: an answer may be ahead of the slot notification, but a slot far
   * ahead is false and would fill the memory.
   */
  #isNearTip(slot: Slot): boolean {
    return Math.abs(slot - this.#tip) < WINDOW_SLOTS;
  }

  #remember(slot: Slot, request: string, digest: string): boolean {
    if (!this.#hasRoomFor(request)) {
      if (!this.#isFull) this.#onFull();
      this.#isFull = true;
      return false;
    }
    const digests = this.#digestsBySlot.get(slot) ?? new Map<string, string>();
    this.#digestsBySlot.set(slot, digests.set(request, digest));
    this.#entries++;
    return true;
  }
  /** Tells whether a request may be remembered: who asks for much that is new takes nothing from those who go on. */
  #hasRoomFor(request: string): boolean {
    if (this.#entries < MAX_ENTRIES - RESERVED_ENTRIES) return true;
    if (this.#entries >= MAX_ENTRIES) return false;
    for (const digests of this.#digestsBySlot.values()) if (digests.has(request)) return true;
    return false;
  }
}
