/** What one member has counted for one caller. Counts are absolute, so a report may be repeated. */
export interface CountReport {
  /** The caller and what is counted of it, as all members name it. */
  readonly id: string;
  readonly limit: number;
  /** The length of the window in milliseconds; 0 for streams, whose count goes up and down. */
  readonly windowMs: number;
  /** The window that is meant, as the store has named it; 0 if it has not. */
  readonly window: number;
  /** The time since the first request in it, in milliseconds; 0 once the window has a name. */
  readonly ageMs: number;
  /** The total of all members as this one knows it: a store that has lost its memory goes on from there. */
  readonly total: number;
  /** What the store has counted for this member, as far as it knows. */
  readonly counted: number;
  readonly spent: number;
  readonly prepay: number;
}

export interface CountTotal extends Pick<CountReport, 'id' | 'windowMs' | 'window' | 'total'> {
  /** The milliseconds until the window ends. A span, as clocks of members differ. The name of the window is its end in Unix time. */
  readonly endsInMs: number;
}

export interface CountAnswer extends CountTotal {
  readonly counted: number;
}

export interface CounterListener {
  /** Accepts a new total: of a window at each halving of what is left, of streams at each change. */
  onTotal(total: CountTotal): void;
  /** Reports again: one count that others have changed; all without `id`, as the store may have lost its memory. */
  onStale(id?: string): void;
}

export interface CounterConnection {
  members(): number;
  /** In the order of the reports, undefined for what the store has no room for. After a rejection they are repeated. */
  report(reports: readonly CountReport[]): Promise<readonly (CountAnswer | undefined)[]>;
  /** Leaves: the streams of this member are counted no more. */
  leave(): void;
}

export interface CounterStore {
  /** Adds a member, whose name no other had before. */
  join(member: string, listener: CounterListener): CounterConnection;
}
