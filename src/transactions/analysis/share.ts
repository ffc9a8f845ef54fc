import type { Action } from './action.ts';

/** Actions that a sentence states: for one wallet, or, where that is null, for all that they touch. */
export interface Share {
  readonly actions: ReadonlySet<Action>;
  readonly wallet: string | null;
}

export const shareOf = (actions: Iterable<Action>, wallet: string | null = null): readonly Share[] => [
  { actions: new Set(actions), wallet },
];
