/** The open connections of one caller at one process, or at all others. */
export type Seats = readonly [id: string, count: number];

interface SeatMember {
  readonly counts: Map<string, number>;
  readonly hear: (others: readonly Seats[]) => void;
}

/** Counts the open connections of each caller over the processes that have them. What a process had ends with it. */
export class SeatLedger {
  readonly #members = new Set<SeatMember>();
  readonly #totals = new Map<string, number>();

  /** The number of callers with connections. */
  get size(): number {
    return this.#totals.size;
  }

  /** Adds a process; `hear` is called with the connections that others have, at once and with each change of theirs. */
  join(hear: (others: readonly Seats[]) => void): { hold(seats: readonly Seats[]): void; leave(): void } {
    const member: SeatMember = { counts: new Map(), hear };
    this.#members.add(member);
    if (this.size > 0) hear([...this.#totals]);
    return {
      hold: (seats) => this.#hold(member, seats),
      leave: () => {
        if (!this.#members.delete(member)) return;
        this.#hold(
          member,
          [...member.counts.keys()].map((id) => [id, 0]),
        );
      },
    };
  }

  /** Takes what a process has now, of those callers that it tells of. */
  #hold(member: SeatMember, seats: readonly Seats[]): void {
    for (const [id, count] of seats) {
      const total = (this.#totals.get(id) ?? 0) + count - (member.counts.get(id) ?? 0);
      if (total > 0) this.#totals.set(id, total);
      else this.#totals.delete(id);
      if (count > 0) member.counts.set(id, count);
      else member.counts.delete(id);
    }
    for (const other of this.#members)
      if (other !== member)
        other.hear(seats.map(([id]) => [id, (this.#totals.get(id) ?? 0) - (other.counts.get(id) ?? 0)]));
  }
}
