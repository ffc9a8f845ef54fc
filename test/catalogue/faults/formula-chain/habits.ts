/** How a node of a formula chain differs from one that does all right. Plain data: it goes to the node's process. */
export interface Habits {
  /** It is so many slots behind the chain. */
  readonly lag: number;
  /** Added to each slot that it tells of. */
  readonly lie: number;
  /** Before an HTTP request is answered. */
  readonly delayMs: number;
  /** How it fails at a method, by the name of the method; `*` is any. */
  readonly failures: Readonly<Record<string, Failure>>;
}

/** A JSON-RPC error by its number, or something that is no answer. */
export type Failure =
  | number
  | '429'
  | '429 with Retry-After'
  | '500 HTML'
  | '502 HTML'
  | '503 HTML'
  | 'empty body'
  | 'truncated JSON'
  | 'wrong id'
  | '50 MB'
  | 'slow drip';

export const GOOD_HABITS: Habits = { lag: 0, lie: 0, delayMs: 0, failures: {} };
