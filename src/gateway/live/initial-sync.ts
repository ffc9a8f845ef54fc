import type { Slot } from '../../shared/domain/slot.ts';
import type { ClockUpdate } from '../upstream/pubsub/pubsub-session.ts';

/** The progress of an account or list towards being kept live over one session. */
export type SyncState =
  | { readonly name: 'subscribing' }
  | { readonly name: 'first-read'; readonly marginSlots: number }
  | { readonly name: 'awaiting-clock'; readonly afterSlot: Slot }
  | { readonly name: 'second-read'; readonly minSlot: Slot }
  | { readonly name: 'synced' };

/**
 * An event of a session, in the session's order. `marginSlots` is by how much another node may lag that answers reads;
 * `readFrom` is the slot that a read must have reached to show all that the session's node had read by then. `armed` comes
 * from a feed, which knows the state by its blocks.
 */
export type SyncEvent =
  | { readonly name: 'acknowledged'; readonly marginSlots: number }
  | { readonly name: 'read'; readonly slot: Slot }
  | { readonly name: 'clock-update'; readonly slot: Slot; readonly readFrom: Slot }
  | { readonly name: 'armed' };

/** A rule that returns the state after an event. It is pure, so that tests can run it against every schedule. */
export type InitialSync = (state: SyncState, event: SyncEvent) => SyncState;

export const SUBSCRIBING: SyncState = { name: 'subscribing' };

const SYNCED: SyncState = { name: 'synced' };

/** The assumed largest lag between the nodes of a pool, including the notification queue of one, in milliseconds. */
const MAX_POOL_LAG_MS = 3200;

/** The fewest slots that this lag counts as, however long slots last. */
const MIN_POOL_LAG_SLOTS = 8;

/** Returns the slots by which a node may lag that answers the reads of a session: 0 where it is the session's own. */
export const marginSlotsOf = (isPooled: boolean, slotTimeMs: number): number =>
  isPooled ? Math.max(MIN_POOL_LAG_SLOTS, Math.ceil(MAX_POOL_LAG_MS / slotTimeMs)) : 0;

/**
 * Returns the event of a Clock update. The node took the baseline of a subscription from its newest root, which may be
 * ahead of the slot that it notifies: its own next read is of no older root, but that of another node of the pool may be.
 */
export const clockEventOf = ({ slot, provenFrom }: ClockUpdate, isPooled: boolean): SyncEvent => ({
  name: 'clock-update',
  slot,
  readFrom: isPooled ? provenFrom : slot,
});

/**
 * Decides from when on silence means "unchanged" (I3). A node acknowledges a subscription before it takes the baseline
 * of it: it never sends a notification for a change in between. So the state is read a second time, after a Clock
 * update newer than the first read has shown that the subscription is active. Where another node of a pool may have
 * answered the first read, the Clock update must be newer by the largest lag within the pool, and the second read must
 * have reached the newest root that the Clock update shows.
 */
export const doubleRead: InitialSync = (state, event) => {
  if (event.name === 'armed') return SYNCED;
  if (state.name === 'subscribing' && event.name === 'acknowledged') {
    return { name: 'first-read', marginSlots: event.marginSlots };
  }
  if (state.name === 'first-read' && event.name === 'read') {
    return { name: 'awaiting-clock', afterSlot: event.slot + state.marginSlots };
  }
  if (state.name === 'awaiting-clock' && event.name === 'clock-update' && event.slot > state.afterSlot) {
    return { name: 'second-read', minSlot: event.readFrom };
  }
  if (state.name === 'second-read' && event.name === 'read' && event.slot >= state.minSlot) return SYNCED;
  return state;
};
