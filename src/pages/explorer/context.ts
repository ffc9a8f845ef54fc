import type { Client } from '../../client/index.ts';
import type { Part } from './part.ts';

/** What a view is made with. */
export interface ViewContext {
  readonly client: Client;
  /** Adds parts to the view, beside each other where there is room. */
  readonly add: (...parts: readonly Part[]) => void;
  /** Adds work that is done when the view is left. */
  readonly onLeave: (work: () => void) => void;
}
