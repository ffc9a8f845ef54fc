import { LRUCache } from 'lru-cache';
import type { Commitment } from '../../../shared/domain/commitment.ts';
import { type EventId, isAfter } from '../../../shared/domain/event-id.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { toJson } from '../../../shared/domain/to-json.ts';
import { atMost } from '../../../shared/runtime/at-most.ts';
import { accountBytes, unparsedJsonOf } from '../../live/accounts/account-json.ts';
import type { FeedVersion } from '../../live/feed/feed-account.ts';
import type { Replay, ReplayQuery } from '../../live/feed/feed-replay.ts';
import { isSameValue } from '../../live/feed/feed-rules.ts';
import type { History } from '../../live/feed/history.ts';
import type { KeptAccount } from '../../live/feed/kept-account.ts';
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
  /** Whether the reader has received what was before `since` in the same process. */
  readonly isContinued: boolean;
}

/** A change of what a topic shows, or the state at which a chain of them begins. */
export interface TopicEvent {
  /** The position of its topic. */
  readonly index: number;
  readonly slot: Slot;
  /** The text of the result, as the route of the topic gives it. */
  readonly result: string;
  /** The event before it; null for a state. */
  readonly before: TopicState | null;
  /** For a state: the slots of which events may be missing. */
  readonly gap: { readonly from: Slot; readonly to: Slot } | null;
}

export interface TopicState {
  readonly slot: Slot;
  readonly result: string;
}

export interface EventPage {
  /** States first, then changes in the order of their ids. */
  readonly events: readonly TopicEvent[];
  /** All events up to this id are known, and those of them that are wanted are in the page. */
  readonly end: EventId;
  /** False if the page had no room for all. */
  readonly isWhole: boolean;
}

/** Reads events; undefined while one of the accounts isn't known. */
export type ReadEvents = (query: EventQuery) => EventPage | undefined | Promise<EventPage | undefined>;

/** About the most characters of the results in a page. */
const MAX_PAGE_LENGTH = 64 * 1024;
/** An id further ahead of what is known than a lagging gateway explains is of another ledger. */
const MAX_AHEAD_SLOTS = 150;
/** States of accounts without a history that are remembered for each topic. */
const MAX_REMEMBERED = 4;

/** A state of which the text is made when it is needed. */
interface KnownState {
  readonly slot: Slot;
  resultText(): string;
}

/** What is known of a topic: states, oldest first, of which each shows something else than the one before. */
interface TopicHistory {
  readonly covered: Slot;
  /** None of the states behind this slot is missing. */
  readonly from: Slot;
  readonly states: readonly KnownState[];
}

/** A feed that sends past blocks again. */
export interface EventFeed {
  /** True until it is known whether it can be used. */
  readonly isStarting: boolean;
  /** True while accounts move to it. */
  readonly hasRoom: boolean;
  replay(query: ReplayQuery): Promise<Replay | undefined>;
}

type FeedHistory = History<KeptAccount, AccountValue | null>;

/** What a feed has sent again about an account, before what the ring has. */
interface Replayed {
  readonly history: FeedHistory;
  /** The version of the history that follows it. */
  readonly next: FeedVersion;
  readonly from: Slot;
  readonly versions: readonly FeedVersion[];
}

export interface EventLogOptions {
  /** The histories of a feed, which have each block. */
  readonly ring: { get(address: string): FeedHistory | undefined; readonly finalizedSlot: Slot };
  readonly context: RouteContext;
  readonly liveAccounts: Pick<LiveAccounts, 'readLive'>;
  /** The feed, which sends again what was before; undefined without one. */
  readonly feed: EventFeed | undefined;
  /** The most bytes of what it has sent again. */
  readonly replayBytes: number;
  /** The most topics of which states without a history are remembered. */
  readonly maxTopics: number;
}

/**
 * The events of accounts, as the versions in the ring give them: so they are the same in each process, and after a restart. Of an
 * account that has no history there, events are the states that were seen.
 */
export class EventLog {
  readonly #options: EventLogOptions;
  readonly #seen: LRUCache<string, readonly TopicState[]>;
  readonly #states = new WeakMap<FeedHistory, Map<TopicName, RingStates>>();
  readonly #replayed: LRUCache<string, Replayed>;
  #replaying: Promise<void> | undefined;

  constructor(options: EventLogOptions) {
    this.#options = options;
    this.#seen = new LRUCache(atMost(options.maxTopics));
    this.#replayed = new LRUCache({ maxSize: options.replayBytes, sizeCalculation: bytesOf });
  }

  /** Forgets the states that were seen or sent again: a node that gave some of them has lied. */
  clear(): void {
    this.#seen.clear();
    this.#replayed.clear();
  }

  readonly read = (query: EventQuery): EventPage | undefined | Promise<EventPage | undefined> => {
    const { feed } = this.#options;
    const page = this.#page(query);
    const { since, isContinued } = query;
    if (since === undefined || isContinued || feed === undefined) return page;
    const isCut = page === undefined || page.events.some(({ gap }) => gap !== null);
    if (!isCut) return page;
    const isMoving = feed.hasRoom && query.topics.some(({ address }) => this.#options.ring.get(address) === undefined);
    return feed.isStarting || isMoving ? undefined : this.#readReplayed(query, since.slot, feed);
  };

  /** Reads what the feed sends again of the accounts whose history begins too late, for one reader at a time. */
  async #readReplayed(query: EventQuery, since: Slot, feed: EventFeed): Promise<EventPage | undefined> {
    while (this.#replaying !== undefined) await this.#replaying;
    const { ring } = this.#options;
    const late = query.topics.flatMap(({ address }) => {
      const history = ring.get(address);
      const next = history?.oldest;
      const from = this.#replayedOf(address, history)?.from ?? next?.slot ?? -1;
      return history === undefined || next === undefined || from <= since ? [] : [{ address, history, next }];
    });
    if (late.length > 0) {
      const replaying = this.#replay(late, since, feed);
      this.#replaying = replaying;
      await replaying;
    }
    return this.#page(query);
  }

  async #replay(
    late: readonly (Pick<Replayed, 'history' | 'next'> & { readonly address: string })[],
    since: Slot,
    feed: EventFeed,
  ): Promise<void> {
    try {
      const until = Math.max(...late.map(({ next }) => next.slot));
      const replay = await feed.replay({ addresses: [...new Set(late.map(({ address }) => address))], since, until });
      if (replay === undefined) return;
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
  #replayedOf(address: string, history: FeedHistory | undefined): Replayed | undefined {
    const replayed = this.#replayed.get(address);
    return replayed?.history === history && replayed?.next === history?.oldest ? replayed : undefined;
  }

  #page({ topics, commitment, since: wanted, isContinued }: EventQuery): EventPage | undefined {
    const histories: TopicHistory[] = [];
    for (const { name, address } of topics) {
      const history = this.#historyOf(name, address, commitment);
      if (history === undefined) return undefined;
      histories.push(history);
    }
    const covered = Math.min(...histories.map((history) => history.covered));
    const isAhead = wanted !== undefined && wanted.slot > covered + MAX_AHEAD_SLOTS;
    const since = isAhead ? undefined : wanted;
    const end = { slot: covered, index: topics.length - 1 };
    if (since !== undefined && !isAfter(end, since)) return { events: [], end: since, isWhole: true };
    const events = histories.map(({ states, from }, index) => {
      const known = states.slice(0, states.findLastIndex(({ slot }) => slot <= covered) + 1);
      return eventsAfter(known, { index, since, from, covered, isContinued, isAhead });
    });
    return pageOf(
      events.flatMap(({ start }) => start ?? []),
      events.flatMap(({ changes }) => changes),
      end,
    );
  }

  #historyOf(name: TopicName, address: string, commitment: Commitment): TopicHistory | undefined {
    const { ring } = this.#options;
    const history = ring.get(address);
    if (history === undefined) return this.#seenOf(name, address, commitment);
    const newest = history.coverage.slot;
    const covered = commitment === 'finalized' ? Math.min(ring.finalizedSlot, newest) : newest;
    const ofHistory = this.#states.get(history) ?? new Map<TopicName, RingStates>();
    this.#states.set(history, ofHistory);
    const states = ofHistory.get(name) ?? new RingStates(name, (version) => this.#textOf(name, address, version));
    ofHistory.set(name, states);
    const replayed = this.#replayedOf(address, history);
    const before = replayed?.versions ?? [];
    if (!states.isOf(before[0] ?? history.oldest, history.newest)) states.update([...before, ...history.versions]);
    const [first] = states.all;
    if (first === undefined || first.slot > covered) return undefined;
    return { covered, from: replayed?.from ?? first.slot, states: states.all };
  }

  #seenOf(name: TopicName, address: string, commitment: Commitment): TopicHistory | undefined {
    const shape = name === 'balance' ? 'lamports' : 'parsed';
    const read = this.#options.liveAccounts.readLive({ address, shape, commitment, minContextSlot: undefined });
    if (read === undefined) return undefined;
    const key = `${name} ${address} ${commitment}`;
    const { slot, sinceSlot = slot } = read;
    const result = this.#render(name, address, read);
    let seen = this.#seen.get(key) ?? [];
    const last = seen.at(-1);
    if (last === undefined || (sinceSlot > last.slot && result !== last.result)) {
      seen = [...seen, { slot: sinceSlot, result }].slice(-MAX_REMEMBERED);
      this.#seen.set(key, seen);
    }
    return {
      covered: slot,
      from: seen[0]?.slot ?? slot,
      states: seen.map((state) => ({ slot: state.slot, resultText: () => state.result })),
    };
  }

  #textOf(name: TopicName, address: string, { slot, value }: FeedVersion): string {
    const shown = value !== null && name === 'balance' ? { ...value, data: NO_DATA } : value;
    return this.#render(name, address, { slot, account: accountBytes(shown && unparsedJsonOf(shown)) });
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
const NO_DATA = new Uint8Array(0);

/** The states of one topic in a history. Of what the ring has dropped it remembers since when the oldest state has been so. */
class RingStates {
  readonly all: KnownState[] = [];
  readonly #isBalance: boolean;
  readonly #textOf: (version: FeedVersion) => string;
  #first: FeedVersion | undefined;
  #last: FeedVersion | undefined;

  constructor(name: TopicName, textOf: (version: FeedVersion) => string) {
    this.#isBalance = name === 'balance';
    this.#textOf = textOf;
  }

  /** Whether it is of a row of versions that begins and ends with these. */
  isOf(first: FeedVersion, last: FeedVersion): boolean {
    return this.#first === first && this.#last === last;
  }

  update(versions: readonly FeedVersion[]): void {
    const [first] = versions;
    this.#first = first;
    const isExtended = first !== undefined && first.slot < (this.all[0]?.slot ?? first.slot);
    if (isExtended) {
      this.all.length = 0;
      this.#last = undefined;
    }
    const known = this.#last === undefined ? -1 : versions.lastIndexOf(this.#last);
    for (const version of versions.slice(known + 1)) {
      if (this.#last === undefined || !this.#showsSame(version, this.#last))
        this.all.push({ slot: version.slot, resultText: () => this.#textOf(version) });
      this.#last = version;
    }
    while (first !== undefined && (this.all[1]?.slot ?? first.slot + 1) <= first.slot) this.all.shift();
  }

  #showsSame({ value: one }: FeedVersion, { value: other }: FeedVersion): boolean {
    return this.#isBalance ? (one?.lamports ?? 0n) === (other?.lamports ?? 0n) : isSameValue(one, other);
  }
}

interface Wanted {
  readonly index: number;
  readonly since: EventId | undefined;
  readonly from: Slot;
  readonly covered: Slot;
  readonly isContinued: boolean;
  /** Whether the reader knows a later block than there is. */
  readonly isAhead: boolean;
}

/** Returns the events of a topic behind an id, and the state at which they begin where their reader may not have it. */
function eventsAfter(
  states: readonly KnownState[],
  { index, since, from, covered, isContinued, isAhead }: Wanted,
): { readonly start: TopicEvent | undefined; readonly changes: readonly TopicEvent[] } {
  const eventAt = (at: number, before: TopicState | null, gapFrom?: Slot): TopicEvent | undefined => {
    const state = states[at];
    if (state === undefined) return undefined;
    const { slot } = state;
    return {
      index,
      slot,
      result: state.resultText(),
      before,
      gap: gapFrom === undefined ? null : { from: gapFrom, to: Math.max(slot, gapFrom) },
    };
  };
  if (since === undefined)
    return { start: eventAt(states.length - 1, null, isAhead ? covered : undefined), changes: [] };
  const known = states.findLastIndex(({ slot }) => !isAfter({ slot, index }, since));
  const changes: TopicEvent[] = [];
  let before: TopicState | null = null;
  for (let at = Math.max(known, 0); at < states.length; at++) {
    const event = eventAt(at, before);
    if (event === undefined) break;
    if (before !== null) changes.push(event);
    before = { slot: event.slot, result: event.result };
  }
  // What comes first in a history was perhaps read at a slot, which is no event that a reader of another process has.
  const isUnproven = known === 0 && !isContinued && states[0]?.slot !== since.slot;
  const isCut = known < 0 && since.slot < from;
  const start = known < 0 || isUnproven ? eventAt(0, null, isCut ? since.slot : undefined) : undefined;
  return { start, changes };
}

/** Returns all states, and the changes that a page has room for. */
function pageOf(states: readonly TopicEvent[], changes: readonly TopicEvent[], end: EventId): EventPage {
  const inOrder = changes.toSorted((a, b) => (isAfter(a, b) ? 1 : -1));
  let length = 0;
  const cut = inOrder.findIndex(({ result }) => {
    length += result.length;
    return length > MAX_PAGE_LENGTH && length > result.length;
  });
  if (cut < 0) return { events: [...states, ...inOrder], end, isWhole: true };
  const fitting = inOrder.slice(0, cut);
  const last = fitting.at(-1);
  return {
    events: [...states, ...fitting],
    end: last === undefined ? end : { slot: last.slot, index: last.index },
    isWhole: false,
  };
}
