import type { Event } from './events.ts';

/** A gateway at a channel: what it publishes while it leads, and what it applies while it follows. */
export interface ChannelListener {
  /** Returns what one that joins must know to understand the events that follow. */
  snapshot(): readonly Event[];
  /** Called with the leader's snapshot; its events follow. */
  onJoined(snapshot: readonly Event[]): void;
  onEvent(event: Event): void;
  /** Nothing is known any more since `reason`; called before anything else is handled. */
  onLost(reason: string): void;
}

/** One leader publishes to all, in order; a follower that misses a message loses all, and joins again with a snapshot. */
export interface Channel {
  publish(event: Event): void;
  subscribe(listener: ChannelListener): () => void;
}
