import type { Slot } from '../domain/slot.ts';

/** The progress of an account or list towards being kept live over one session. */
export type SyncState =
  | { readonly name: 'subscribing' }
  | { readonly name: 'first-read'; readonly marginSlots: number }
  | { readonly name: 'awaiting-clock'; readonly afterSlot: Slot }
  | { readonly name: 'second-read'; readonly minSlot: Slot }
  | { readonly name: 'synced' };

/** An event of a session, in the session's order. `isPooled` says that another node may answer the reads. */
export type SyncEvent =
  | { readonly name: 'acknowledged'; readonly isPooled: boolean }
  | { readonly name: 'read'; readonly slot: Slot }
  | { readonly name: 'clock-update'; readonly slot: Slot };

/** A rule that returns the state after an event. It is pure, so that tests can run it against every schedule. */
export type InitialSync = (state: SyncState, event: SyncEvent) => SyncState;

export const SUBSCRIBING: SyncState = { name: 'subscribing' };

const SYNCED: SyncState = { name: 'synced' };

/** The assumed largest lag between the nodes of a pool, including the notification queue of one. */
const MAX_POOL_LAG_SLOTS = 8;

/**
 * Decides from when on silence means "unchanged" (I3). A node acknowledges a subscription before it takes the baseline
 * of it: it never sends a notification for a change in between. So the state is read a second time, after a Clock
 * update newer than the first read has shown that the subscription is active. Where another node of a pool may have
 * answered the first read, the Clock update must be newer by the largest lag within the pool.
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
  if (state.name === 'second-read' && event.name === 'read' && event.slot >= state.minSlot) return SYNCED;
  return state;
};
