import type { Commitment } from '../domain/commitment.ts';
import type { Slot } from '../domain/slot.ts';
import type { Claim } from './statement.ts';

/** What the guard needs to know of a statement. */
export interface ClaimRequest {
  readonly request: string;
  readonly slot: Slot;
  readonly commitment: Commitment;
  readonly claim: Claim;
  readonly digest: string;
}

/** Two results for the same request at the same slot. One of two upstreams, or our own rendering, is wrong. */
export interface Conflict {
  readonly request: string;
  readonly slot: Slot;
  readonly signed: string;
  readonly refused: string;
}

const WINDOW_SLOTS = 64;
const MAX_ENTRIES = 100_000;

/**
 * Keeps the gateway from signing two truths. Two `exact` receipts at finalized with different digests convict their
 * signer, so `exact` is granted only where the guard remembers all that was signed: once this process alone signs, near
 * the finalized tip, above the first tip it saw since (another may have signed below it), and while there is room to
 * remember. Elsewhere the claim is `observed`, which promises less and convicts nobody.
 */
export class EquivocationGuard {
  readonly #digestsBySlot = new Map<Slot, Map<string, string>>();
  readonly #onConflict: (conflict: Conflict) => void;
  #entries = 0;
  #isSole = false;
  #floor: Slot | undefined;
  #tip: Slot = 0;
  #conflicts = 0;

  constructor(onConflict: (conflict: Conflict) => void) {
    this.#onConflict = onConflict;
  }

  /** How often two results met for one request and slot. */
  get conflicts(): number {
    return this.#conflicts;
  }

  /** How many digests are remembered. */
  get entries(): number {
    return this.#entries;
  }

  /** Whether nobody else signs with the same keys. */
  get isSoleSigner(): boolean {
    return this.#isSole;
  }

  /** Nobody else signs with the same keys from now on. */
  becomeSoleSigner(): void {
    this.#isSole = true;
  }

  /** Tells of a newer finalized slot. Until the first one since this process alone signs, nothing is `exact`. */
  advance(tip: Slot): void {
    if (this.#isSole) this.#floor ??= tip;
    this.#tip = Math.max(this.#tip, tip);
    for (const [slot, digests] of this.#digestsBySlot) {
      if (this.#isNearTip(slot)) continue;
      this.#entries -= digests.size;
      this.#digestsBySlot.delete(slot);
    }
  }

  /** The claim that a statement may carry. What is granted `exact` here must be taken for signed. */
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

  /** Both ways: an answer can be ahead of the news about its slot, but a slot far ahead is a lie that would clog. */
  #isNearTip(slot: Slot): boolean {
    return Math.abs(slot - this.#tip) < WINDOW_SLOTS;
  }

  #remember(slot: Slot, request: string, digest: string): boolean {
    if (this.#entries >= MAX_ENTRIES) return false;
    const digests = this.#digestsBySlot.get(slot) ?? new Map<string, string>();
    this.#digestsBySlot.set(slot, digests.set(request, digest));
    this.#entries++;
    return true;
  }
}
