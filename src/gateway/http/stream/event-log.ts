import { LRUCache } from 'lru-cache';
import type { Commitment } from '../../../shared/domain/commitment.ts';
import { type EventId, isAfter } from '../../../shared/domain/event-id.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { toJson } from '../../../shared/domain/to-json.ts';
import { ownTurn } from '../../../shared/runtime/own-turn.ts';
import {
  accountBytes,
  canonicalAccount,
  isSameAccount,
  lamportsOfKept,
  textOfKept,
} from '../../live/accounts/account-json.ts';
import type { FeedVersion } from '../../live/feed/feed-account.ts';
import type { Replay, ReplayQuery } from '../../live/feed/feed-replay.ts';
import { isSameValue } from '../../live/feed/feed-rules.ts';
import type { LinkedVersion } from '../../live/feed/history.ts';
import {
  type AccountHistory,
  type AccountVersion,
  isOfFeed,
  isValue,
  type KeptAccount,
} from '../../live/feed/kept-account.ts';
import type { VersionRing } from '../../live/feed/version-ring.ts';
import type { LiveAccounts, RouteContext } from '../../routes/routing/route.ts';
import { accountTopicOf, type TopicName } from '../../routes/stream-topics.ts';
import type { AccountValue } from '../../upstream/geyser/feed-update.ts';
import type { AccountRead } from '../../upstream/reads/account-batcher.ts';

export interface EventQuery {
  readonly topics: readonly { readonly name: TopicName; readonly address: string }[];
  /** Not processed: a fork may take back what is. */
  readonly commitment: Commitment;
  /** The events behind this one are wanted; undefined for the present states, and what comes. */
  readonly since: EventId | undefined;
  /** The states that the reader has, as the page before named them; undefined where it comes from elsewhere. */
  readonly held: EventPage['held'];
}

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
  /** The slot of the state that the reader then has, for each topic; undefined where that is not known here yet. */
  readonly held: readonly Slot[] | undefined;
  /** False if the page had no room for all. */
  readonly isWhole: boolean;
}

/** Reads events; undefined while one of the accounts isn't known. */
export type ReadEvents = (query: EventQuery) => Promise<EventPage | undefined>;

/** About the most characters of the events in a page. */
const MAX_PAGE_LENGTH = 64 * 1024;
/** About the most characters of the events in the gap of another topic, at which no page can end. */
const MAX_GAP_LENGTH = 16 * MAX_PAGE_LENGTH;
/** About the most characters of accounts that are compared or shown in a turn of the event loop: some 5 ms. */
const MAX_TURN_LENGTH = 32 * 1024;
/** About the characters of an event beside its result, and what it costs to compare or show an account beside its JSON. */
const OVERHEAD = 256;
/** An id further ahead of what is known than a lagging gateway explains is of another ledger. */
const MAX_AHEAD_SLOTS = 150;

/** A state of which the text is made when it is needed. */
interface KnownState {
  readonly slot: Slot;
  /** What the topic shows of the account. */
  readonly value: KeptAccount;
  /** The slot behind which changes before it may be missing; undefined where none can. */
  readonly gapFrom: Slot | undefined;
  resultText(): string;
}

/** What is known of a topic: states, oldest first, of which each shows something else than the one before it, or follows a gap. */
interface TopicHistory {
  readonly covered: Slot;
  /** None of the states from this slot on is missing, save in the gaps that they name. */
  readonly from: Slot;
  readonly states: readonly KnownState[];
}

/** A feed that sends past blocks again. */
export interface EventFeed {
  /** True until it is known whether it can be used. */
  readonly isStarting: boolean;
  /** True while accounts move to it. */
  readonly hasRoom: boolean;
  /** Rejects where the feed does not answer. */
  replay(query: ReplayQuery): Promise<Replay | undefined>;
}

type FeedHistory = AccountHistory<AccountValue | null>;

/** What a feed has sent again about an account, before what the ring has. */
interface Replayed {
  readonly history: FeedHistory;
  /** The version of the history that follows it. */
  readonly next: FeedVersion;
  /** The blocks behind this one are in it. */
  readonly from: Slot;
  readonly versions: readonly FeedVersion[];
}

/** An account whose history begins too late for a reader, which has all up to a slot. */
interface LateAccount extends Pick<Replayed, 'history' | 'next'> {
  readonly address: string;
  readonly since: Slot;
}

export interface EventLogOptions {
  readonly ring: Pick<VersionRing, 'get' | 'finalizedSlot'>;
  readonly context: RouteContext;
  readonly liveAccounts: Pick<LiveAccounts, 'readLive'>;
  /** The feed, which sends again what was before; undefined without one. */
  readonly feed: EventFeed | undefined;
  /** The most bytes of what it has sent again. */
  readonly replayBytes: number;
}

/**
 * The events of accounts, as the versions in the ring give them: so they are the same in each process, and after a restart. A
 * feed sends each block. Without one a node may leave some out: where its notifications do not show that a version follows
 * the one before directly, the version is a state with a gap.
 */
export class EventLog {
  readonly #options: EventLogOptions;
  readonly #states = new WeakMap<AccountHistory, Map<TopicName, RingStates>>();
  readonly #replayed: LRUCache<string, Replayed>;
  /** How often what was sent again was forgotten. */
  #clears = 0;
  #replaying: Promise<void> | undefined;

  constructor(options: EventLogOptions) {
    this.#options = options;
    const dispose = ({ history }: Replayed): void => this.#trim(history);
    this.#replayed = new LRUCache({ maxSize: options.replayBytes, sizeCalculation: bytesOf, dispose });
  }

  /** Forgets the states that were sent again: a node that gave some of them has lied. */
  clear(): void {
    this.#clears++;
    this.#replayed.clear();
  }

  readonly read = async (query: EventQuery): Promise<EventPage | undefined> => {
    const { feed } = this.#options;
    const page = await this.#page(query);
    const { since, held } = query;
    if (since === undefined || held !== undefined || feed === undefined) return page;
    const isCut = page === undefined || page.events.some(({ gap }) => gap?.isAhead === false); // no replay is ahead
    if (!isCut) return page;
    const isMoving = feed.hasRoom && query.topics.some(({ address }) => this.#feedHistoryOf(address) === undefined);
    return feed.isStarting || isMoving ? undefined : this.#readReplayed(query, since, feed);
  };

  /** Reads what the feed sends again of the accounts whose history begins too late, for one reader at a time. */
  async #readReplayed(query: EventQuery, id: EventId, feed: EventFeed): Promise<EventPage | undefined> {
    try {
      while (this.#replaying !== undefined) await this.#replaying;
      await this.#replayLate(query, id, feed);
    } catch {
      // All that wait for a feed that does not answer go on without it: they would wait one after the other.
    }
    return this.#page(query);
  }

  async #replayLate(query: EventQuery, id: EventId, feed: EventFeed): Promise<void> {
    const late = query.topics.flatMap(({ address }, index): LateAccount[] => {
      const history = this.#feedHistoryOf(address);
      const next = history?.oldest;
      const from = this.#replayedOf(address, history)?.from ?? next?.slot ?? -1;
      const since = slotReached(id, index);
      return history === undefined || next === undefined || from <= since ? [] : [{ address, history, next, since }];
    });
    if (late.length === 0) return;
    const replaying = this.#replay(late, feed);
    this.#replaying = replaying;
    await replaying;
  }

  async #replay(late: readonly LateAccount[], feed: EventFeed): Promise<void> {
    const clears = this.#clears;
    try {
      const since = Math.min(...late.map((account) => account.since));
      const until = Math.max(...late.map(({ next }) => next.slot));
      const replay = await feed.replay({ addresses: [...new Set(late.map(({ address }) => address))], since, until });
      if (replay === undefined || clears !== this.#clears) return;
      for (const { address, history, next } of late) {
        const versions = (replay.versions.get(address) ?? []).filter(({ slot }) => slot <= next.slot);
        const last = versions.at(-1) ?? next;
        if (!isSameValue(last.value, next.value)) continue; // the read and the feed differ: what is between is not known
        // Without a write the account has been what was read since the replay begins.
        const known = versions.length > 0 ? versions : [{ slot: replay.from, value: next.value }];
        this.#replayed.set(address, { history, next, from: replay.from, versions: known });
      }
    } finally {
      this.#replaying = undefined;
    }
  }

  /** Returns what was before the history of an account, if the history still begins where that ends. */
  #replayedOf(address: string, history: AccountHistory | undefined): Replayed | undefined {
    const replayed = this.#replayed.get(address);
    return replayed?.history === history && replayed?.next.slot === history?.oldest.slot ? replayed : undefined;
  }

  async #page({ topics, commitment, since: wanted, held }: EventQuery): Promise<EventPage | undefined> {
    while (!this.#compareSome(topics)) await ownTurn();
    const histories: TopicHistory[] = [];
    for (const { name, address } of topics) {
      const history = this.#historyOf(name, address, commitment);
      if (history === undefined) return undefined;
      histories.push(history);
    }
    const covered = coveredBy(histories);
    const isAhead = wanted !== undefined && wanted.slot > covered + MAX_AHEAD_SLOTS;
    const since = isAhead ? undefined : wanted;
    if (histories.some(({ states }) => (states[0]?.slot ?? 0) > covered)) return undefined; // nothing of one is known then
    const end = { slot: covered, index: topics.length - 1 };
    if (since !== undefined && !isAfter(end, since))
      return { events: [], end: since, covered: end, held, isWhole: true };
    const parts = histories.map(({ states, from }, index) => {
      const known = states.slice(0, states.findLastIndex(({ slot }) => slot <= covered) + 1);
      return partAfter(known, { index, since, from, covered, held: held?.[index], isAhead });
    });
    return pageOf(parts, end);
  }

  /** Compares versions that no reader has needed yet, for one turn of the event loop. Returns false where some are left. */
  #compareSome(topics: EventQuery['topics']): boolean {
    let left = MAX_TURN_LENGTH;
    for (const { name, address } of topics) {
      let history = this.#options.ring.get(address);
      for (; history !== undefined && left > 0; history = history.previous)
        left -= this.#statesOf(name, address, history).update(this.#versionsOf(address, history), left);
    }
    return left > 0;
  }

  #feedHistoryOf(address: string): FeedHistory | undefined {
    const history = this.#options.ring.get(address);
    return history !== undefined && isOfFeed(history) ? history : undefined;
  }

  #historyOf(name: TopicName, address: string, commitment: Commitment): TopicHistory | undefined {
    const history = this.#feedHistoryOf(address);
    if (history === undefined) return this.#notifiedOf(name, address, commitment);
    const { ring } = this.#options;
    const newest = history.coverage.slot;
    const covered = commitment === 'finalized' ? Math.min(ring.finalizedSlot, newest) : newest;
    const replayed = this.#replayedOf(address, history);
    const states = this.#stateRow(name, address, history);
    const [first] = states;
    if (first === undefined || first.slot > covered) return undefined;
    return { covered, from: replayed === undefined ? first.slot : replayed.from + 1, states };
  }

  /** Returns what nodes have notified of, or another gateway has. */
  #notifiedOf(name: TopicName, address: string, commitment: Commitment): TopicHistory | undefined {
    const { ring, liveAccounts } = this.#options;
    const query = { address, commitment, minContextSlot: undefined };
    const read = liveAccounts.readLive({ ...query, shape: 'lamports' });
    if (read === undefined) return undefined;
    const history = mostAdvanced(ring.get(address));
    const states = history === undefined ? [] : this.#chainOf(name, address, history);
    const [first] = states;
    if (history === undefined || first === undefined || first.slot > read.slot) {
      const whole = liveAccounts.readLive({ ...query, shape: 'parsed' });
      return whole && this.#presentOf(name, address, whole); // the ring has no room for it, or begins later
    }
    const covered = Math.min(read.slot, Math.max(history.coverage.slot, history.newest.slot));
    return { covered, from: first.slot, states };
  }

  #presentOf(name: TopicName, address: string, read: AccountRead): TopicHistory {
    const { slot: covered, sinceSlot: slot = covered } = read;
    const state = { slot, value: null, gapFrom: undefined, resultText: () => this.#render(name, address, read) };
    return { covered, from: slot, states: [state] };
  }

  /** Returns the states of a history and of those that it has replaced: one that begins behind the end of another follows a gap. */
  #chainOf(name: TopicName, address: string, history: AccountHistory): readonly KnownState[] {
    const own = this.#stateRow(name, address, history);
    const [first, ...rest] = own;
    let previous = previousOf(history);
    while (previous !== undefined && previous.oldest.slot >= (first?.slot ?? 0)) previous = previousOf(previous);
    if (first === undefined || previous === undefined) return own;
    const before = this.#chainOf(name, address, previous).filter(({ slot }) => slot < first.slot);
    const last = before.at(-1);
    if (last === undefined) return own;
    const gapFrom = heldUntil(previous, first.slot - 1) ?? last.slot;
    if (gapFrom < first.slot - 1) return [...before, { ...first, gapFrom }, ...rest];
    return [...before, ...(showsSame(last.value, first.value) ? rest : own)];
  }

  #stateRow(name: TopicName, address: string, history: AccountHistory): readonly KnownState[] {
    const states = this.#statesOf(name, address, history);
    states.update(this.#versionsOf(address, history));
    return states.all;
  }

  #statesOf(name: TopicName, address: string, history: AccountHistory): RingStates {
    const ofHistory = this.#states.get(history) ?? new Map<TopicName, RingStates>();
    this.#states.set(history, ofHistory);
    history.onDropped ??= () => this.#trim(history);
    const states = ofHistory.get(name) ?? new RingStates(name, (version) => this.#textOf(name, address, version));
    ofHistory.set(name, states);
    return states;
  }

  /** Forgets the states that only versions show which are not kept any more. */
  #trim(history: AccountHistory): void {
    for (const states of this.#states.get(history)?.values() ?? []) states.trim(history.oldest.slot);
  }

  #versionsOf(address: string, history: AccountHistory): VersionRow {
    const before = this.#replayedOf(address, history)?.versions ?? [];
    return {
      first: (before[0] ?? history.oldest).slot,
      last: history.newest.slot,
      *after(slot) {
        for (const version of before) if (version.slot > slot) yield { ...version, gapFrom: undefined };
        yield* history.linkedAfter(Math.max(slot, before.at(-1)?.slot ?? slot));
      },
    };
  }

  #textOf(name: TopicName, address: string, { slot, value }: AccountVersion): string {
    return this.#render(name, address, { slot, account: accountBytes(textOfKept(value)) });
  }

  /** Returns the result of the topic's route for an account. */
  #render(name: TopicName, address: string, read: AccountRead): string {
    const { route } = accountTopicOf(name, address, undefined).request;
    const { context } = this.#options;
    const liveAccounts = { ...context.liveAccounts, readLive: () => read };
    const params = { addr: address, commitment: 'confirmed' };
    const answer =
      route.kind === 'read' ? route.resolveLive?.(params, { ...context, liveAccounts }, undefined) : undefined;
    return toJson(answer?.result);
  }
}

const bytesOf = ({ versions }: Replayed): number =>
  versions.reduce((sum, { value }) => sum + VERSION_BYTES + (value?.data.length ?? 0), 0);

/** About the bytes of a version beside its data. */
const VERSION_BYTES = 120;

/** Whether each version is of its slot, and none turned out to be wrong. */
const isDated = ({ member, newest, coverage }: AccountHistory): boolean =>
  !coverage.isDenied && (member.commitment !== 'finalized' || isValue(newest.value));

/** Returns the open source that is ahead of the others. */
function mostAdvanced(newest: AccountHistory | undefined): AccountHistory | undefined {
  let ahead: AccountHistory | undefined;
  for (let history = newest; history !== undefined; history = history.previous)
    if (history.isOpen && isDated(history) && history.coverage.slot > (ahead?.coverage.slot ?? -2)) ahead = history;
  return ahead;
}

function previousOf({ previous }: AccountHistory): AccountHistory | undefined {
  return previous === undefined || isDated(previous) ? previous : previousOf(previous);
}

/** Returns the last slot up to this one at which what the account was is known; undefined where it is not known before. */
function heldUntil(history: AccountHistory | undefined, slot: Slot): Slot | undefined {
  if (history === undefined) return undefined;
  const { coverage, newest } = history;
  const end = Math.min(slot, Math.max(coverage.slot, newest.slot));
  return history.heldUntil(end) ?? heldUntil(previousOf(history), slot);
}

/** Returns the last slot at which it is known what each topic shows: none in a gap of one of them. */
function coveredBy(histories: readonly TopicHistory[]): Slot {
  let covered = Math.min(...histories.map((history) => history.covered));
  for (let last = Number.POSITIVE_INFINITY; covered < last; ) {
    last = covered;
    for (const { states } of histories) {
      const next = states[states.findLastIndex(({ slot }) => slot <= covered) + 1];
      covered = Math.min(covered, next?.gapFrom ?? covered);
    }
  }
  return covered;
}

/** Returns what a topic shows of an account. */
const shownOf = (name: TopicName, kept: KeptAccount): KeptAccount =>
  name === 'account' || kept === null ? kept : { ...BALANCE_ALONE, lamports: lamportsOfKept(kept) };

const BALANCE_ALONE = { owner: '', executable: false, rentEpoch: 0n, data: new Uint8Array(0) };

const showsSame = (one: KeptAccount, other: KeptAccount): boolean =>
  isValue(one) && isValue(other) ? isSameValue(one, other) : isSameAccount(textOfKept(one), textOfKept(other));

/** Versions of an account, oldest first, and the slots of the first and the last of them. */
interface VersionRow {
  readonly first: Slot;
  readonly last: Slot;
  /** Those behind a slot. */
  after(slot: Slot): Iterable<LinkedVersion<KeptAccount>>;
}

/** The states of one topic in a history. Of what the ring has dropped it remembers since when the oldest state has been so. */
class RingStates {
  readonly all: KnownState[] = [];
  readonly #name: TopicName;
  readonly #textOf: (version: AccountVersion) => string;
  #first: Slot | undefined;
  /** The newest version that was compared, and its JSON in canonical form, save for one of a feed. */
  #last: (AccountVersion & { readonly canonical: string | undefined }) | undefined;

  constructor(name: TopicName, textOf: (version: AccountVersion) => string) {
    this.#name = name;
    this.#textOf = textOf;
  }

  /** Adds the versions that are new, those of about `most` characters. Returns how many characters it has compared. */
  update({ first, last, after }: VersionRow, most = Number.POSITIVE_INFINITY): number {
    if (this.#first === first && this.#last?.slot === last) return 0;
    if (first < (this.all[0]?.slot ?? first)) this.#clear();
    this.trim(first);
    let length = 0;
    for (const version of after(this.#last?.slot ?? -1)) {
      length += this.#add(version);
      if (length >= most) break;
    }
    this.trim(first);
    this.#first = first;
    return length;
  }

  /** Forgets what was before a slot, which is that of the first version. */
  trim(first: Slot): void {
    if (first > (this.#last?.slot ?? first)) this.#clear(); // what followed the last one is not known any more
    while ((this.all[1]?.slot ?? first + 1) <= first) this.all.shift();
    this.#first = undefined; // what was before may be sent again
  }

  #clear(): void {
    this.all.length = 0;
    this.#last = undefined;
  }

  #add({ slot, gapFrom, value: kept }: LinkedVersion<KeptAccount>): number {
    const value = shownOf(this.#name, kept);
    const canonical = isValue(value) ? undefined : canonicalAccount(textOfKept(value));
    const before = this.#last;
    this.#last = { slot, value, canonical };
    const isSame =
      isValue(value) && before !== undefined && isValue(before.value)
        ? isSameValue(value, before.value)
        : canonical !== undefined && canonical === before?.canonical;
    if (gapFrom !== undefined || !isSame)
      this.all.push({ slot, value, gapFrom, resultText: () => this.#textOf({ slot, value }) });
    return OVERHEAD + (isValue(kept) ? 0 : (textOfKept(kept)?.length ?? 0));
  }
}

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
function partAfter(
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
const slotReached = ({ slot, index }: EventId, topic: number): Slot => (topic > index ? slot - 1 : slot);

/** Whether a reader that has all up to a slot knows the last state until then at the same slot, or needs only the next one. */
function hasStateAt(states: readonly KnownState[], known: number, since: Slot, held: Slot | undefined): boolean {
  const [state, next] = [states[known], states[known + 1]];
  if (state === undefined) return false;
  if (next?.gapFrom !== undefined && next.gapFrom < since) return true; // what there was at the slot is not known here
  if (held !== undefined) return held === state.slot;
  // What comes first, or behind a gap, was perhaps read at its slot, and another process knows since when it has been so.
  return known > 0 && state.gapFrom === undefined;
}

function stateAt(index: number, state: KnownState, gapFrom: Slot | undefined, isAhead: boolean): TopicEvent {
  const { slot } = state;
  const gap = gapFrom === undefined ? null : { from: gapFrom, to: Math.max(slot, gapFrom), isAhead };
  return { index, slot, result: state.resultText(), before: null, gap, isComplete: true };
}

/** Resolves to the states at which topics begin, and what follows that a page has room for: no text of others is written. */
async function pageOf(parts: readonly TopicPart[], end: EventId): Promise<EventPage> {
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
      return { events, end: idOf(last), covered: end, held: heldOf(parts), isWhole: false };
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
  return { events, end, covered: end, held: heldOf(parts), isWhole: true };
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

const lengthOf = ({ result }: TopicEvent): number => OVERHEAD + result.length;

const heldOf = (parts: readonly TopicPart[]): readonly Slot[] =>
  parts.map(({ states, next }) => states[next - 1]?.slot ?? -1);

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
