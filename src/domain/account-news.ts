import type { Slot } from './answer.ts';

/** A followed account has changed. */
export interface AccountNews {
  /** It reads otherwise from this slot on. */
  readonly slot: Slot;
  /** A state that was told before was taken back: the node has changed forks. */
  readonly isReorg: boolean;
}
