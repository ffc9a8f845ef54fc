import type { Slot } from './slot.ts';

/** Names an event of a stream: its block, and the position of its topic among those that the subscriber named. */
export interface EventId {
  readonly slot: Slot;
  readonly index: number;
}

/** Parses `slot.index`; undefined for any other text. */
export function parseEventId(text: string): EventId | undefined {
  const [, slot, index] = /^(\d{1,15})\.(\d{1,4})$/.exec(text) ?? [];
  return slot === undefined ? undefined : { slot: Number(slot), index: Number(index) };
}

export const formatEventId = ({ slot, index }: EventId): string => `${slot}.${index}`;

/** Returns true if one id is behind another in the order of a stream. */
export const isAfter = (one: EventId, other: EventId): boolean =>
  one.slot > other.slot || (one.slot === other.slot && one.index > other.index);
