import type { EventId } from '../../../shared/domain/event-id.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { ownTurn } from '../../../shared/runtime/own-turn.ts';
import { EVENT_OVERHEAD, type KnownState, MAX_TURN_LENGTH } from './topic-states.ts';

/** A change of what a topic shows, or a state at which a chain of them begins. */
export interface TopicEvent {
  /** The position of its topic. */
  readonly index: number;
  readonly slot: Slot;
  /** The text of the result, as the route of the topic gives it. */
  readonly result: string;
  /** What it follows directly; null for a state. */
  readonly before: TopicState | null;
  /** For a state: the slots of which events may be missing. */
  readonly gap: EventGap | null;
  /** Whether a reader of it has all until then: not in a gap of another topic, of which the state comes later. */
  readonly isComplete: boolean;
}

export interface EventGap {
  readonly from: Slot;
  readonly to: Slot;
  /** Whether the reader named an event that is ahead of all blocks here. */
  readonly isAhead: boolean;
}

export interface TopicState {
  readonly slot: Slot;
  readonly result: string;
}

export interface EventPage {
  /** The states at which it begins, then what follows in the order of the ids. */
  readonly events: readonly TopicEvent[];
  /** Up to where the reader has all events behind the page. */
  readonly end: EventId;
  /** Up to where this process knows all events: before `end` where the reader knows later blocks. */
  readonly covered: EventId;
  /** The slot of the state that each topic has at `covered`. */
  readonly present: readonly Slot[];
  /** The slot of the state that the reader then has, for each topic; undefined where that is not known here yet. */
  readonly held: readonly Slot[] | undefined;
  /** False if the page had no room for all. */
  readonly isWhole: boolean;
}

/** About the most characters of the events in a page. */
const MAX_PAGE_LENGTH = 64 * 1024;
/** About the most characters of the events in the gap of another topic, at which no page can end. */
const MAX_GAP_LENGTH = 16 * MAX_PAGE_LENGTH;

interface Wanted {
  readonly index: number;
  readonly since: EventId | undefined;
  readonly from: Slot;
  readonly covered: Slot;
  /** The slot of the state that the reader has, where it got that here. */
  readonly held: Slot | undefined;
  /** Whether the reader knows a later block than there is. */
  readonly isAhead: boolean;
}

/** What is wanted of a topic: the state at which it begins, where its reader may not have it, and the states from `next` on. */
interface TopicPart {
  readonly index: number;
  readonly states: readonly KnownState[];
  readonly start: (() => TopicEvent) | undefined;
  next: number;
  /** The state before the next one, as an event has named it. */
  before: TopicState | undefined;
  /** Up to where the reader has all. */
  readonly since: Slot;
}

/** Returns what is wanted of a topic behind an id. */
export function partAfter(
  states: readonly KnownState[],
  { index, since: id, from, covered, held, isAhead }: Wanted,
): TopicPart {
  const startAt = (state: KnownState | undefined, gapFrom?: Slot) =>
    state && (() => stateAt(index, state, gapFrom, isAhead));
  if (id === undefined) {
    const start = startAt(states.at(-1), isAhead ? covered : undefined);
    return { index, states, start, next: states.length, before: undefined, since: covered };
  }
  const since = slotReached(id, index);
  const known = states.findLastIndex(({ slot }) => slot <= since);
  const isCut = known < 0 && since < from - 1;
  const start = hasStateAt(states, known, since, held)
    ? undefined
    : startAt(states[Math.max(known, 0)], isCut ? since : undefined);
  return { index, states, start, next: Math.max(known, 0) + 1, before: undefined, since };
}

/** Returns up to where a reader of an event has all of a topic: of the event's block it has the topics before. */
export const slotReached = ({ slot, index }: EventId, topic: number): Slot => (topic > index ? slot - 1 : slot);

/** Whether a reader that has all up to a slot knows the last state until then at the same slot, or needs only the next one. */
function hasStateAt(states: readonly KnownState[], known: number, since: Slot, held: Slot | undefined): boolean {
  const [state, next] = [states[known], states[known + 1]];
  if (state === undefined) return false;
  if (next?.gapFrom !== undefined && next.gapFrom < since) return true; // what there was at the slot is not known here
  if (held !== undefined) return held >= state.slot; // what was read then is that state, whose slot is known since
  // What comes first, or behind a gap, was perhaps read at its slot, and another process knows since when it has been so.
  return known > 0 && state.gapFrom === undefined;
}

function stateAt(index: number, state: KnownState, gapFrom: Slot | undefined, isAhead: boolean): TopicEvent {
  const { slot } = state;
  const gap = gapFrom === undefined ? null : { from: gapFrom, to: Math.max(slot, gapFrom), isAhead };
  return { index, slot, result: state.resultText(), before: null, gap, isComplete: true };
}

/** Resolves to the states at which topics begin, and what follows that a page has room for: no text of others is written. */
export async function pageOf(parts: readonly TopicPart[], end: EventId): Promise<EventPage> {
  const events: TopicEvent[] = [];
  let inTurn = 0;
  const add = async (event: TopicEvent): Promise<void> => {
    events.push(event);
    inTurn += lengthOf(event);
    if (inTurn < MAX_TURN_LENGTH) return;
    inTurn = 0;
    await ownTurn();
  };
  for (const { start } of parts) if (start !== undefined) await add(start());
  let last: TopicEvent | undefined;
  let whole = { length: events.length, id: undefined as EventId | undefined };
  let length = 0;
  for (let part = earliestOf(parts); part !== undefined; part = earliestOf(parts)) {
    const event = nextIn(part, parts);
    length += lengthOf(event);
    if (last?.isComplete && length > MAX_PAGE_LENGTH)
      return { events, end: idOf(last), covered: end, present: presentOf(parts), held: heldOf(parts), isWhole: false };
    if (last?.isComplete === false && length > MAX_GAP_LENGTH) {
      events.length = whole.length;
      for (const state of newestStates(parts, whole.id)) await add(state());
      break;
    }
    await add(event);
    last = event;
    if (event.isComplete) whole = { length: events.length, id: idOf(event) };
    part.before = { slot: event.slot, result: event.result };
    part.next++;
  }
  return { events, end, covered: end, present: presentOf(parts), held: heldOf(parts), isWhole: true };
}

/** Returns the newest state of each topic that has changed behind an event, and moves on to it: what is between is a gap. */
function newestStates(parts: readonly TopicPart[], id: EventId | undefined): (() => TopicEvent)[] {
  return parts.flatMap((part) => {
    const { index, states, since } = part;
    const known = Math.max(states[0]?.slot ?? since, since, id === undefined ? since : slotReached(id, index));
    const newest = states.at(-1);
    part.next = states.length;
    if (newest === undefined || newest.slot <= known) return [];
    return () => stateAt(index, newest, known < newest.slot - 1 ? known : undefined, false);
  });
}

const idOf = ({ slot, index }: TopicEvent): EventId => ({ slot, index });

const lengthOf = ({ result }: TopicEvent): number => EVENT_OVERHEAD + result.length;

const heldOf = (parts: readonly TopicPart[]): readonly Slot[] =>
  parts.map(({ states, next }) => states[next - 1]?.slot ?? -1);

const presentOf = (parts: readonly TopicPart[]): readonly Slot[] =>
  parts.map(({ states }) => states.at(-1)?.slot ?? -1);

/** Returns the topic whose next change comes first; undefined behind the last one. */
function earliestOf(parts: readonly TopicPart[]): TopicPart | undefined {
  let earliest: TopicPart | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const part of parts) {
    const slot = part.states[part.next]?.slot ?? Number.POSITIVE_INFINITY;
    if (slot >= least) continue; // of one block, that of the topic that was named first
    earliest = part;
    least = slot;
  }
  return earliest;
}

/** Returns the next change of a topic, or its next state: what a reader has got up to a slot is no part of the gap before that. */
function nextIn({ index, states, next, before, since }: TopicPart, parts: readonly TopicPart[]): TopicEvent {
  const [previous, state] = [states[next - 1], states[next]];
  if (previous === undefined || state === undefined) throw new RangeError('there is no change');
  const { slot, gapFrom } = state;
  const others = parts.filter((part) => part.index !== index);
  const isComplete = others.every((part) => (part.states[part.next]?.gapFrom ?? slot) >= slot);
  if (gapFrom !== undefined) {
    const from = since < slot - 1 ? Math.max(gapFrom, since) : undefined;
    return { ...stateAt(index, state, from, false), isComplete };
  }
  const known = before ?? { slot: previous.slot, result: previous.resultText() };
  return { index, slot, result: state.resultText(), before: known, gap: null, isComplete };
}
