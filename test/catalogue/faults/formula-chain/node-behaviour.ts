/** Deviations of a formula node from a healthy one. Plain data, since it is sent to the node's process. */
export interface NodeBehaviour {
  /** Slots behind the chain. */
  readonly lagSlots: number;
  /** Offset added to each slot that the node reports. */
  readonly slotOffset: number;
  /** Delay before an HTTP answer. */
  readonly delayMs: number;
  /** Failures by method; `*` stands for any. */
  readonly failures: Readonly<Record<string, Failure>>;
}

/** A JSON-RPC error code, or an invalid answer. */
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
