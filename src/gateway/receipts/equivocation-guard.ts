import type { Claim } from '../../client/verify/index.ts';
import type { Commitment } from '../../shared/domain/commitment.ts';
import type { Slot } from '../../shared/domain/slot.ts';

/** The parts of a statement that decide its claim. */
export interface ClaimRequest {
  readonly request: string;
  readonly slot: Slot;
  /** The newest slot at which a process may sign the same digest, if other processes sign, too. Default: `slot`. */
  readonly until?: Slot;
  readonly commitment: Commitment;
  readonly claim: Claim;
  readonly digest: string;
  /** Whether the request names the slot, so that it may come again as long as the slot is kept. Default: false. */
  readonly isPast?: boolean | undefined;
}

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

/** The slots at which one digest may have been signed for a request. */
interface SignedRange {
  readonly from: Slot;
  readonly end: Slot;
  readonly digest: string;
}

interface Window {
  readonly slots: number;
  /** The entries up to which new requests are remembered. */
  readonly maxEntries: number;
  /** The requests that have a range with this end, by which it is forgotten. */
  readonly requestsByEnd: Map<Slot, Set<string>>;
}

/** The slots near the tip at which digests are remembered of requests that name none. */
const WINDOW_SLOTS = 64;
const MAX_ENTRIES = 100_000;

/** The part of them that newcomers leave to requests that had an exact claim at a slot before. */
const RESERVED_ENTRIES = 25_000;

/**
 * The slots above the first tip that another process may have signed: those that are near its tip, and as many for a node
 * that is behind, from which this process may have its tip.
 */
export const LEFT_OUT_SLOTS = 2 * WINDOW_SLOTS;

/**
 * Keeps the gateway from signing two different `exact` results. Two `exact` receipts at finalized with different
 * digests convict their signer, so `exact` is granted only where the guard remembers every signed digest: once this
 * process alone signs, near the finalized tip, above the first tip seen since then, and above {@link LEFT_OUT_SLOTS} more
 * if another process may have signed before, and within its memory limit. Elsewhere the claim is `observed`, which promises less and convicts nobody.
 * Where several processes sign, a digest is granted for all slots at which one of them may sign it: the range grows as
 * its claim is carried on, and no other digest is granted inside.
 */
export class EquivocationGuard implements ClaimGuard {
  conflicts = 0;
  entries = 0;
  /** The ranges of each request in the order of their slots, of which they have none in common. */
  readonly #rangesByRequest = new Map<string, SignedRange[]>();
  /** What is remembered near the tip, and for requests that name a past slot. */
  readonly #present: Window;
  readonly #past: Window;
  readonly #onConflict: (conflict: Conflict) => void;
  readonly #onFull: () => void;
  #isFull = false;
  #isSole = false;
  #leftOut = 0;
  #floor: Slot | undefined;
  #tip: Slot = 0;
  /** The slots that a fleet lets this gateway sign for: above the first, up to the second. */
  #above: Slot = -1;
  #upTo: Slot = Number.POSITIVE_INFINITY;

  /**
   * `pastSlots`: the slots for which digests of requests that name a past slot are remembered. `onFull` is called each
   * time that the memory becomes full, from when on new requests are not granted `exact`.
   */
  constructor(onConflict: (conflict: Conflict) => void, onFull: () => void = () => {}, pastSlots = 0) {
    this.#onConflict = onConflict;
    this.#onFull = onFull;
    this.#present = { slots: WINDOW_SLOTS, maxEntries: MAX_ENTRIES - RESERVED_ENTRIES, requestsByEnd: new Map() };
    const maxPast = MAX_ENTRIES - 2 * RESERVED_ENTRIES;
    this.#past = { slots: Math.max(pastSlots, WINDOW_SLOTS), maxEntries: maxPast, requestsByEnd: new Map() };
  }

  /** `exact` while this process alone signs at the tip, also for the slots that a restart leaves out: not for a follower of a fleet, nor without its Redis. */
  get receiptMode(): Claim {
    return this.#isSole && this.#upTo > this.#above && this.#upTo >= this.#tip ? 'exact' : 'observed';
  }

  /** Records that no other process signs with the same keys from now on, and whether none has before. */
  becomeSoleSigner(isFirst: boolean): void {
    this.#isSole = true;
    this.#leftOut = isFirst ? 0 : LEFT_OUT_SLOTS;
  }

  /** Grants `exact` only for slots above one and up to another: other gateways with the same key sign for the others. */
  confineTo(above: Slot, upTo: Slot): void {
    this.#above = above;
    this.#upTo = upTo;
  }

  /** Advances the finalized tip. Nothing is `exact` until the first call after {@link becomeSoleSigner}. */
  advance(tip: Slot): void {
    this.#tip = Math.max(this.#tip, tip);
    if (this.#isSole) this.#floor ??= this.#tip + this.#leftOut;
    for (const window of [this.#present, this.#past])
      for (const [end, requests] of window.requestsByEnd) {
        if (this.#isNearTip(end, window)) continue;
        for (const request of requests) this.#forget(request, end);
        window.requestsByEnd.delete(end);
      }
    if (this.entries < MAX_ENTRIES - 2 * RESERVED_ENTRIES) this.#isFull = false;
  }

  /** For `slot` and all up to `until`. A digest that was granted `exact` counts as signed. */
  grantClaim({ request, slot, until = slot, commitment, claim, digest, isPast = false }: ClaimRequest): Claim {
    const window = isPast ? this.#past : this.#present;
    const { requestsByEnd } = window;
    if (claim !== 'exact' || commitment !== 'finalized') return 'observed';
    if (until < slot || until > this.#upTo || !this.#isGrantable(until, window)) return 'observed';
    const ranges = this.#rangesByRequest.get(request) ?? [];
    const first = ranges.findLastIndex(({ end }) => end < slot) + 1; // few are newer
    const known = ranges.slice(first).filter(({ from }) => from <= until);
    const other = known.find((range) => range.digest !== digest);
    if (other !== undefined) {
      this.conflicts++;
      this.#onConflict({ request, slot: Math.max(slot, other.from), signed: other.digest, refused: digest });
      return 'observed';
    }
    // a range that goes on may have begun below what can be granted now, and has no slot between that others sign for
    if (!this.#isGrantable(slot, window) && !known.some(({ from, end }) => from <= slot && end >= this.#above))
      return 'observed';
    if (known.some(({ from, end }) => from <= slot && end >= until)) return 'exact';
    if (known.length === 0 && !this.#hasRoomFor(request, window)) return 'observed';
    for (const { end } of known) requestsByEnd.get(end)?.delete(request);
    const from = Math.min(slot, known[0]?.from ?? slot);
    const end = Math.max(until, known.at(-1)?.end ?? until);
    ranges.splice(first, known.length, { from, end, digest });
    this.#rangesByRequest.set(request, ranges);
    requestsByEnd.set(end, (requestsByEnd.get(end) ?? new Set()).add(request));
    this.entries += 1 - known.length;
    return 'exact';
  }

  /** Returns true if a digest may be granted that was not granted before. */
  #isGrantable(slot: Slot, window: Window): boolean {
    return this.#floor !== undefined && slot > Math.max(this.#floor, this.#above) && this.#isNearTip(slot, window);
  }

  #forget(request: string, end: Slot): void {
    const ranges = this.#rangesByRequest.get(request) ?? [];
    const at = ranges.findIndex((range) => range.end === end);
    if (at === -1) return;
    ranges.splice(at, 1);
    this.entries--;
    if (ranges.length === 0) this.#rangesByRequest.delete(request);
  }

  /** An answer may be ahead of the slot notification, but a slot far ahead is false and would fill the memory. */
  #isNearTip(slot: Slot, { slots }: Window): boolean {
    return slot - this.#tip < WINDOW_SLOTS && this.#tip - slot < slots;
  }

  /**
   * Returns true if a request may be remembered: many new ones leave room for those that are remembered already. Reports the
   * first that may not.
   */
  #hasRoomFor(request: string, { maxEntries }: Window): boolean {
    if (this.entries < maxEntries || (this.entries < MAX_ENTRIES && this.#rangesByRequest.has(request))) return true;
    if (!this.#isFull) this.#onFull();
    this.#isFull = true;
    return false;
  }
}
