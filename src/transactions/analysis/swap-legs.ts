import type { Action } from './action.ts';
import type { AssetAmount } from './asset-amount.ts';
import type { Share } from './share.ts';

/** Who signed for something in the place of its owner. */
export type Mover = Pick<Action, 'role'> & { readonly authority: string };

/** A trade: the amounts that a wallet gave and received, both positive. */
export interface Swap {
  /** Null if it is unclear which of the two sides is the trader: then `inputs` and `outputs` may be reversed. */
  readonly wallet: string | null;
  /** Who signed for it in the place of the wallet. */
  readonly mover?: Mover;
  readonly inputs: readonly AssetAmount[];
  readonly outputs: readonly AssetAmount[];
  /** The program in whose calls both sides moved. */
  readonly program: string | null;
  /** The actions that were its legs. */
  readonly states: readonly Share[];
}
