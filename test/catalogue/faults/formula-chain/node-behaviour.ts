/** How a node of a formula chain differs from one that does all right. Plain data: it goes to the node's process. */
export interface NodeBehaviour {
  /** It is so many slots behind the chain. */
  readonly lagSlots: number;
  /** Added to each slot that it tells of. */
  readonly slotOffset: number;
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

export const HEALTHY_BEHAVIOUR: NodeBehaviour = { lagSlots: 0, slotOffset: 0, delayMs: 0, failures: {} };
