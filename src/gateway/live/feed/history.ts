import type { Agreement } from '../../../shared/domain/agreement.ts';
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
}

/** What the ring keeps versions of. */
export interface RingMember {
  readonly address: string;
  /** How often the account is read: the lowest ones leave first. */
  readonly heat: { readonly rank: number };
  /** Called when the ring keeps the account no longer, as others are read more. */
  onEvicted?(): void;
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
  #newest: Version<W>;
  /** The versions before it, oldest first; undefined without any, as of most accounts, of which there may be very many. */
  #past: PastVersion<W>[] | undefined = undefined;
  /** What another source, or this one before a gap, knows of the account. */
  previous: History<V> | undefined = undefined;
  /** The operators that gave the account when they were read last. */
  agreement: Agreement | undefined = undefined;
  #coverage: Coverage;
  /** Whether the ring keeps it, and counts it. */
  isKept = true;

  constructor(member: RingMember, coverage: Coverage, first: Version<W>) {
    this.member = member;
    this.#newest = first;
    this.#coverage = coverage;
  }

  get address(): string {
    return this.member.address;
  }

  get heat(): RingMember['heat'] {
    return this.member.heat;
  }

  get coverage(): Coverage {
    return this.#coverage;
  }

  get newest(): Version<W> {
    return this.#newest;
  }

  get oldest(): Version<W> {
    return this.#past?.[0]?.version ?? this.#newest;
  }

  /** Oldest first, at least one. */
  get versions(): readonly Version<W>[] {
    return [...(this.#past ?? []).map(({ version }) => version), this.#newest];
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
    if (this.#newest.slot <= slot) return this.#newest;
    const past = this.#pastAt(slot);
    return past !== undefined && slot <= past.end ? past.version : undefined;
  }

  /** Returns the newest version of a slot or of one before. */
  newestUpTo(slot: Slot): Version<W> | undefined {
    return this.#newest.slot <= slot ? this.#newest : this.#pastAt(slot)?.version;
  }

  /** Returns the first slot from this one on at which the account is kept; undefined where none is. */
  keptFrom(slot: Slot): Slot | undefined {
    const own = this.#coverage.isDenied
      ? undefined
      : this.versions.find((version) => version.slot >= slot && version.slot <= this.#coverage.slot)?.slot;
    const before = this.previous?.keptFrom(slot);
    return own === undefined || before === undefined ? (own ?? before) : Math.min(own, before);
  }

  /** Adds a newer version. `end`: the last slot at which the one before is known to hold. */
  push(version: Version<W>, end: Slot): void {
    this.#past ??= [];
    this.#past.push({ version: this.#newest, end });
    this.#newest = version;
  }

  /** Drops the oldest version. Returns false if it is the only one. */
  dropOldest(): boolean {
    if (this.#past === undefined) return false;
    if (this.#past.length > 1) this.#past.shift();
    else this.#past = undefined;
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

  /** Covers no slot beyond the present one. */
  freeze(): void {
    if (this.isOpen) this.#coverage = new EndedCoverage(this.#coverage.slot, this.#coverage);
  }

  #pastAt(slot: Slot): PastVersion<W> | undefined {
    return this.#past?.findLast(({ version }) => version.slot <= slot);
  }
}
