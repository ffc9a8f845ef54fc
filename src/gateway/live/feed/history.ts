import type { Agreement } from '../../../shared/domain/agreement.ts';
import type { Commitment } from '../../../shared/domain/commitment.ts';
import type { Slot } from '../../../shared/domain/slot.ts';

/** What something was from a slot on, until the next version. */
export interface Version<V> {
  /** The block that wrote it; for the first version of a history the slot at which it was read. */
  readonly slot: Slot;
  readonly value: V;
}

/** Up to which slot all versions are known. */
export interface Coverage {
  readonly slot: Slot;
  /** True once what it covered turned out to be wrong. */
  readonly isDenied: boolean;
  /** The newest slot that it knows to be final: the version of that slot is still needed. Default: that of the ring. */
  readonly finalizedSlot?: Slot;
  /** Called when the ring keeps an account no longer that it covers, as others are read more. */
  onEvicted?(address: string): void;
}

export interface RingMember {
  readonly address: string;
  /** The lowest ones leave first: those that are read least. */
  readonly priority: number;
  /** The commitment at which it is kept. What a node notifies of at finalized may be of any block up to its version's slot. */
  readonly commitment?: Commitment;
}

/** A version, and what is known of the time between the one before and it. */
export interface LinkedVersion<V> extends Version<V> {
  /** The slot behind which changes before it may be missing; undefined where none can. */
  readonly gapFrom: Slot | undefined;
}

/** A version, and the last slot at which it is known to hold: a change between that and the next version may be missing. */
interface PastVersion<V> {
  readonly version: Version<V>;
  readonly end: Slot;
}

/** The coverage of a source that ends at a slot; what the source denies later is denied here, too. */
class EndedCoverage implements Coverage {
  readonly slot: Slot;
  readonly #source: Pick<Coverage, 'isDenied'>;

  constructor(slot: Slot, source: Pick<Coverage, 'isDenied'>) {
    this.slot = slot;
    this.#source = source;
  }

  get isDenied(): boolean {
    return this.#source.isDenied;
  }
}

const DENIED = new EndedCoverage(-1, { isDenied: true });

/** The versions of one account, or of one token list, from one source, up to the slot that its coverage names. */
export class History<V, W extends V = V> {
  readonly member: RingMember;
  /** Slot and value of the newest version, in this object: most accounts have no other. */
  #slot: Slot;
  #value: W;
  /** The versions before it, oldest first; undefined without any, as of most accounts, of which there may be very many. */
  #past: PastVersion<W>[] | undefined = undefined;
  /** What another source, or this one before a gap, knows of the account. */
  previous: History<V> | undefined = undefined;
  /** The operators that gave the account when they were read last. */
  agreement: Agreement | undefined = undefined;
  #coverage: Coverage;
  /** Called once it has dropped its oldest version. */
  onDropped: (() => void) | undefined = undefined;
  /** Whether the ring keeps it, and counts it. */
  isKept = true;

  constructor(member: RingMember, coverage: Coverage, first: Version<W>) {
    this.member = member;
    this.#slot = first.slot;
    this.#value = first.value;
    this.#coverage = coverage;
  }

  get address(): string {
    return this.member.address;
  }

  get coverage(): Coverage {
    return this.#coverage;
  }

  get newest(): Version<W> {
    return { slot: this.#slot, value: this.#value };
  }

  get oldest(): Version<W> {
    return this.#past?.[0]?.version ?? this.newest;
  }

  /** Returns the versions behind a slot, oldest first. */
  *linkedAfter(slot: Slot): Iterable<LinkedVersion<W>> {
    const past = this.#past ?? [];
    for (let i = countUpTo(past, slot); i <= past.length; i++) {
      const version = past[i]?.version ?? this.newest;
      const before = past[i - 1];
      const known = before === undefined ? version.slot : Math.max(before.version.slot, before.end);
      if (version.slot > slot) yield { ...version, gapFrom: known < version.slot - 1 ? known : undefined };
    }
  }

  /** Oldest first, at least one. */
  get versions(): readonly Version<W>[] {
    return [...(this.#past ?? []).map(({ version }) => version), this.newest];
  }

  /** Returns the version at the end of a slot, from any source; undefined where that is not kept or not covered. */
  at(slot: Slot): Version<V> | undefined {
    return this.ownAt(slot) ?? this.previous?.at(slot);
  }

  /** Returns the operators that gave the account at a slot; undefined where that is not known. */
  agreementAt(slot: Slot): Agreement | undefined {
    return this.agreement?.slot === slot ? this.agreement : this.previous?.agreementAt(slot);
  }

  /** Returns the version at the end of a slot that this source knows. */
  ownAt(slot: Slot): Version<W> | undefined {
    if (slot > this.#coverage.slot || this.#coverage.isDenied) return undefined;
    if (this.#slot <= slot) return this.newest;
    const past = pastAt(this.#past, slot);
    return past !== undefined && slot <= past.end ? past.version : undefined;
  }

  /** Returns the last slot up to this one, which is covered, at which a version of this source is known to hold. */
  heldUntil(slot: Slot): Slot | undefined {
    if (this.#slot <= slot) return slot;
    const past = pastAt(this.#past, slot);
    return past && Math.min(slot, Math.max(past.version.slot, past.end));
  }

  newestUpTo(slot: Slot): Version<W> | undefined {
    return this.#slot <= slot ? this.newest : pastAt(this.#past, slot)?.version;
  }

  /** Returns the first slot from this one on at which the account is kept; undefined where none is. */
  keptFrom(slot: Slot): Slot | undefined {
    if (this.at(slot) !== undefined) return slot;
    const past = this.#past ?? [];
    const first = past[countUpTo(past, slot - 1)]?.version.slot ?? this.#slot;
    const isKept = first >= slot && first <= this.#coverage.slot && !this.#coverage.isDenied;
    const before = this.previous?.keptFrom(slot) ?? Number.POSITIVE_INFINITY;
    const oldest = isKept ? Math.min(first, before) : before;
    return oldest === Number.POSITIVE_INFINITY ? undefined : oldest;
  }

  /** Adds a newer version. `end`: the last slot at which the one before is known to hold. */
  push(version: Version<W>, end: Slot): void {
    this.#past ??= [];
    this.#past.push({ version: this.newest, end });
    this.#slot = version.slot;
    this.#value = version.value;
  }

  /** Drops the oldest version. Returns false if it is the only one. */
  dropOldest(): boolean {
    if (this.#past === undefined) return false;
    if (this.#past.length > 1) this.#past.shift();
    else this.#past = undefined;
    this.onDropped?.();
    return true;
  }

  /** Whether the source may cover later slots. */
  get isOpen(): boolean {
    return !(this.#coverage instanceof EndedCoverage);
  }

  /** Covers nothing: what it has is wrong. */
  deny(): void {
    this.#coverage = DENIED;
  }

  /** Covers no slot beyond the present one: its source knows the account no longer. What is known stays until it is old. */
  end(): void {
    if (this.isOpen) this.#coverage = new EndedCoverage(this.#coverage.slot, this.#coverage);
  }
}

const pastAt = <W>(past: readonly PastVersion<W>[] | undefined, slot: Slot): PastVersion<W> | undefined =>
  past?.[countUpTo(past, slot) - 1];

function countUpTo(past: readonly PastVersion<unknown>[], slot: Slot): number {
  let [low, high] = [0, past.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((past[middle]?.version.slot ?? slot) <= slot) low = middle + 1;
    else high = middle;
  }
  return low;
}
