import { LRUCache } from 'lru-cache';
import type { Commitment } from '../../../shared/domain/commitment.ts';
import { type EventId, isAfter } from '../../../shared/domain/event-id.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { toJson } from '../../../shared/domain/to-json.ts';
import { ownTurn } from '../../../shared/runtime/own-turn.ts';
import { accountBytes, textOfKept } from '../../live/accounts/account-json.ts';
import type { FeedVersion } from '../../live/feed/feed-account.ts';
import type { Replay, ReplayQuery } from '../../live/feed/feed-replay.ts';
import { isSameValue } from '../../live/feed/feed-rules.ts';
import { type AccountHistory, type AccountVersion, isOfFeed, isValue } from '../../live/feed/kept-account.ts';
import type { VersionRing } from '../../live/feed/version-ring.ts';
import type { LiveAccounts, RouteContext } from '../../routes/routing/route.ts';
import { accountTopicOf, type TopicName } from '../../routes/stream-topics.ts';
import type { AccountValue } from '../../upstream/geyser/feed-update.ts';
import type { AccountRead } from '../../upstream/reads/account-batcher.ts';
import { type EventPage, pageOf, partAfter, slotReached } from './event-page.ts';
import { type KnownState, MAX_TURN_LENGTH, showsSame, TopicStates, type VersionRow } from './topic-states.ts';

export interface EventQuery {
  readonly topics: readonly { readonly name: TopicName; readonly address: string }[];
  /** Not processed: a fork may take back what is. */
  readonly commitment: Commitment;
  /** The events behind this one are wanted; undefined for the present states, and what comes. */
  readonly since: EventId | undefined;
  /** The states that the reader has, as the page before named them; undefined where it comes from elsewhere. */
  readonly held: EventPage['held'];
}

/** Reads events; undefined while one of the accounts isn't known. */
export type ReadEvents = (query: EventQuery) => Promise<EventPage | undefined>;

/** An id further ahead of what is known than a lagging gateway explains is of another ledger. */
const MAX_AHEAD_SLOTS = 150;

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
  /** Returns true for an account that is about to move to it, for a bounded time. */
  isMoving(address: string, commitment: Commitment): boolean;
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
  readonly #states = new WeakMap<AccountHistory, Map<TopicName, TopicStates>>();
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
    const { topics, commitment, since, held } = query;
    if (since === undefined || held !== undefined || feed === undefined) return page;
    const isCut = page === undefined || page.events.some(({ gap }) => gap?.isAhead === false); // no replay is ahead
    if (!isCut) return page;
    const isMoving = topics.some(
      ({ address }) => this.#feedHistoryOf(address) === undefined && feed.isMoving(address, commitment),
    );
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

  #statesOf(name: TopicName, address: string, history: AccountHistory): TopicStates {
    const ofHistory = this.#states.get(history) ?? new Map<TopicName, TopicStates>();
    this.#states.set(history, ofHistory);
    history.onDropped ??= () => this.#trim(history);
    const states = ofHistory.get(name) ?? new TopicStates(name, (version) => this.#textOf(name, address, version));
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
