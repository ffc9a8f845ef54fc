import type { Slot } from '../domain/slot.ts';

/** How far an account on a connection has come on its way to being kept live. */
export type SyncState =
  | { readonly name: 'subscribing' }
  | { readonly name: 'first-read'; readonly marginSlots: number }
  | { readonly name: 'awaiting-clock'; readonly afterSlot: Slot }
  | { readonly name: 'second-read'; readonly minSlot: Slot }
  | { readonly name: 'synced' };

/** What moves it on. All are told in the order of the connection; `pooled` says that reads may go to another node. */
export type SyncEvent =
  | { readonly name: 'acknowledged'; readonly isPooled: boolean }
  | { readonly name: 'read'; readonly slot: Slot }
  | { readonly name: 'clock-update'; readonly slot: Slot };

/** Says what a step leads to. Pure, so that a rule can be tried against every schedule. */
export type InitialSync = (stage: SyncState, step: SyncEvent) => SyncState;

export const SUBSCRIBING: SyncState = { name: 'subscribing' };

/** How many slots the nodes of a pool, and the queue of one, may be behind each other. */
const MAX_POOL_LAG_SLOTS = 8;

/**
 * When silence may be taken for "unchanged". A node acknowledges a subscription before it takes its baseline: changes
 * in between are never told. So it is read again, once a beacon behind the first reading has shown that the
 * subscription is through the node's queue. Where another node may have read, one that is behind, the beacon must be as
 * far behind the reading as nodes are apart.
 */
export const doubleRead: InitialSync = (state, event) => {
  if (state.name === 'subscribing' && event.name === 'acknowledged') {
    return { name: 'first-read', marginSlots: event.isPooled ? MAX_POOL_LAG_SLOTS : 0 };
  }
  if (state.name === 'first-read' && event.name === 'read') {
    return { name: 'awaiting-clock', afterSlot: event.slot + state.marginSlots };
  }
  if (state.name === 'awaiting-clock' && event.name === 'clock-update' && event.slot > state.afterSlot) {
    return { name: 'second-read', minSlot: event.slot };
  }
  if (state.name === 'second-read' && event.name === 'read' && event.slot >= state.minSlot) return { name: 'synced' };
  return state;
};
