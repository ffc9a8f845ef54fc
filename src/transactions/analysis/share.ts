import type { Action } from './action.ts';
import { onlyValue } from './only-value.ts';

/** Actions that a sentence states: for one wallet, or, where that is null, for all that they touch. */
export interface Share {
  readonly actions: ReadonlySet<Action>;
  readonly wallet: string | null;
}

export const shareOf = (actions: Iterable<Action>, wallet: string | null = null): readonly Share[] => [
  { actions: new Set(actions), wallet },
];

/** Returns the program that did all that a sentence states; null if several did, or the transaction itself. */
export const creditOf = (states: readonly Share[]): string | null =>
  onlyValue(states.flatMap(({ actions }) => [...actions].map(({ program }) => program)));
