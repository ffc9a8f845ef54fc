/** The open connections of one caller at a process, and how many it may have in all. */
export type HeldSeats = readonly [id: string, count: number, limit: number];

/** Those that it has at all other processes, and how many of its newest here are too many. */
export type OtherSeats = readonly [id: string, count: number, excess: number];

interface SeatMember {
  readonly counts: Map<string, number>;
  readonly hear: (others: readonly OtherSeats[]) => void;
}

/** Counts the open connections of each caller over the processes that have them. What a process had ends with it. */
export class SeatLedger {
  readonly #members = new Set<SeatMember>();
  readonly #totals = new Map<string, number>();
  /** What callers may have in all, and who opened a connection of theirs last. */
  readonly #openers = new Map<string, { readonly limit: number; readonly member: SeatMember }>();

  /** The number of callers with connections. */
  get size(): number {
    return this.#totals.size;
  }

  /** Adds a process; `hear` is called with the connections that others have, at once and with each change of theirs. */
  join(hear: (others: readonly OtherSeats[]) => void): { hold(seats: readonly HeldSeats[]): void; leave(): void } {
    const member: SeatMember = { counts: new Map(), hear };
    this.#members.add(member);
    if (this.size > 0) hear([...this.#totals].map(([id, count]) => [id, count, 0]));
    return {
      hold: (seats) => this.#hold(member, seats),
      leave: () => {
        if (!this.#members.delete(member)) return;
        this.#hold(
          member,
          [...member.counts.keys()].map((id) => [id, 0, 0]),
        );
      },
    };
  }

  /** Has so many of the newest connections of a caller ended as are too many, of those that it has `opened` lately. */
  revokeExcess(id: string, opened: number): void {
    const opener = this.#openers.get(id);
    if (opener === undefined) return;
    const total = this.#totals.get(id) ?? 0;
    const own = opener.member.counts.get(id) ?? 0;
    const excess = Math.min(opened, own, total - opener.limit);
    if (excess > 0) opener.member.hear([[id, total - own, excess]]);
  }

  /** Takes what a process has now, of those callers that it tells of. What it has opened beyond a limit is too many. */
  #hold(member: SeatMember, seats: readonly HeldSeats[]): void {
    const tooMany: OtherSeats[] = [];
    for (const [id, count, limit] of seats) {
      const opened = count - (member.counts.get(id) ?? 0);
      const total = (this.#totals.get(id) ?? 0) + opened;
      if (total > 0) this.#totals.set(id, total);
      else this.#totals.delete(id);
      if (opened > 0 && Number.isFinite(limit)) this.#openers.set(id, { limit, member });
      if (total <= 0) this.#openers.delete(id);
      if (count > 0) member.counts.set(id, count);
      else member.counts.delete(id);
      const excess = Math.min(opened, total - limit);
      if (excess > 0) tooMany.push([id, total - count, excess]);
    }
    if (tooMany.length > 0) member.hear(tooMany);
    for (const other of this.#members)
      if (other !== member)
        other.hear(seats.map(([id]) => [id, (this.#totals.get(id) ?? 0) - (other.counts.get(id) ?? 0), 0]));
  }
}
