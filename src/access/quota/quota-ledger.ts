/** What one member has charged in the window of one identity, and would like. All counts are absolute: it may repeat. */
export interface QuotaAsk {
  /** The identity, as all members name it. */
  readonly id: string;
  /** The units per window. */
  readonly limit: number;
  readonly windowMs: number;
  /** The window that is meant, as the ledger has named it; 0 if it has not. */
  readonly window: number;
  /** How long ago the first charge was, in milliseconds; 0 once the window has a name. */
  readonly ageMs: number;
  /** The units that were charged, also beyond the share. */
  readonly used: number;
  /** The share that would last for a while, `used` included: it may be granted in part. */
  readonly want: number;
  /** The share that a waiting request needs, `used` included: it is granted whole or not at all. `used` if none waits. */
  readonly need: number;
}

/** What a ledger says about the window of one identity. */
export interface QuotaState {
  readonly id: string;
  /** The limit of the window, which stays until its end. */
  readonly limit: number;
  readonly windowMs: number;
  /** The name of the window: its end on the ledger's clock, in milliseconds. Later windows have greater names. */
  readonly window: number;
  /** The milliseconds until it ends. A span, as clocks of members differ. */
  readonly endsInMs: number;
  /** The same in Unix seconds, fixed when the window opens: callers see it. */
  readonly reset: number;
  /** How often the window has changed so far: of two states that come in another order, the one that changed later holds. */
  readonly changes: number;
  /** The units that no member holds. Below 0 it is a debt, at most one limit of which the next window pays. */
  readonly left: number;
}

/** The answer to an ask. */
export interface QuotaShare extends QuotaState {
  /** The units that the member may charge in the window, in all. */
  readonly share: number;
  /** The units that others hold and may give back. 0 from a ledger that no request waits for. */
  readonly held: number;
  /** Whether what was asked belongs to a window that is over, and was not counted. */
  readonly isOver: boolean;
}

/** Ledgers as those see them who take part. */
export interface QuotaLedgers {
  /**
   * Adds a member and returns its view of the ledger. `onForgotten` is called when the ledger may have lost what was
   * charged, so that it must be told again.
   */
  join(member: string, onForgotten: () => void): JoinedQuotaLedger;
}

/** The ledger of a member that may leave. */
export type JoinedQuotaLedger = QuotaLedger & { leave(): void };

/**
 * The shares of all members in fixed windows, as one member sees them. A member's name must differ from that of every
 * member before it, so that nobody's count is taken back.
 */
export interface QuotaLedger {
  /** The number of members, this one included. */
  readonly members: number;
  /** Settles asks; answers in their order. May fail: the same asks can be repeated. */
  settle(asks: readonly QuotaAsk[]): Promise<readonly QuotaShare[]>;
  /** Calls `hear` at each halving of what is left of a window, at 0, as its debt doubles, and once units are free again. */
  onLeft(hear: (left: QuotaState) => void): () => void;
}
