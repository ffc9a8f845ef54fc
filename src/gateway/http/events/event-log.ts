import type { Commitment } from '../../../shared/domain/commitment.ts';
import { type EventId, isAfter } from '../../../shared/domain/event-id.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { toJson } from '../../../shared/domain/to-json.ts';
import { ownTurn } from '../../../shared/runtime/own-turn.ts';
import { accountBytes, textOfKept } from '../../live/accounts/account-json.ts';
import { isParsed } from '../../live/accounts/feed-account-json.ts';
import type { Replay, ReplayQuery } from '../../live/feed/feed-replay.ts';
import {
  type AccountHistory,
  type AccountVersion,
  type FeedHistory,
  isOfFeed,
  isValue,
  type KeptAccount,
} from '../../live/feed/kept-account.ts';
import type { VersionRing } from '../../live/feed/version-ring.ts';
import type { LiveAccounts } from '../../routes/routing/route.ts';
import { accountTopicOf, type TopicName } from '../../routes/stream-topics.ts';
import type { AccountRead } from '../../upstream/reads/account-batcher.ts';
import { type EventPage, pageOf, partAfter, slotReached } from './event-page.ts';
import { FeedReplays, type LateAccount } from './feed-replays.ts';
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

/** Reads events; undefined while one of the accounts isn't known. `isWanted` returns false once the reader has left. */
export type ReadEvents = (query: EventQuery, isWanted?: () => boolean) => Promise<EventPage | undefined>;

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
  /** Rejects where the feed does not answer. */
  replay(query: ReplayQuery): Promise<Replay | undefined>;
}

export interface EventLogOptions {
  readonly ring: Pick<VersionRing, 'get' | 'finalizedSlot'>;
  readonly liveAccounts: Pick<LiveAccounts, 'readLive'>;
  /** The feed, which sends again what was before; undefined without one. */
  readonly feed: EventFeed | undefined;
  /** Returns true for an account that is about to move to the feed, for a bounded time. Default: none is. */
  isMoving?(address: string, commitment: Commitment): boolean;
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
  readonly #replays: FeedReplays;
  /** Whether the first state of a history shows the same as the last one before it. */
  readonly #joints = new WeakMap<KnownState, { readonly before: KeptAccount; readonly isSame: boolean }>();

  constructor(options: EventLogOptions) {
    this.#options = options;
    this.#replays = new FeedReplays({
      replay: async (query) => options.feed?.replay(query),
      maxBytes: options.replayBytes,
      onDropped: (history) => this.#trim(history),
    });
  }

  /** Forgets the states that were sent again: a node that gave some of them has lied. */
  clear(): void {
    this.#replays.clear();
  }

  readonly read: ReadEvents = async (query, isWanted = () => true) => {
    const { feed, isMoving = () => false } = this.#options;
    const page = await this.#page(query);
    const { topics, commitment, since } = query;
    if (since === undefined || feed === undefined) return page;
    const isCut = page === undefined || page.events.some(({ gap }) => gap?.isAhead === false); // no replay is ahead
    if (!isCut) return page;
    const isOneMoving = topics.some(
      ({ address }) => this.#feedHistoryOf(address) === undefined && isMoving(address, commitment),
    );
    if (feed.isStarting || isOneMoving) return undefined;
    const lateOf = (): readonly LateAccount[] => (isWanted() ? this.#lateOf(query, since) : []);
    if (lateOf().length === 0) return page;
    await this.#replays.load(lateOf);
    return this.#page(query);
  };

  /** Returns the accounts of which a reader lacks blocks that the feed may send again. */
  #lateOf({ topics }: EventQuery, id: EventId): readonly LateAccount[] {
    return topics.flatMap(({ name, address }, index): LateAccount[] => {
      const history = this.#feedHistoryOf(address);
      if (history === undefined) return [];
      const reached = slotReached(id, index);
      const { from, states } = this.#chainOf(name, address, history);
      const firstGap = states.find(({ slot, gapFrom }) => slot > reached && gapFrom !== undefined);
      const missingFrom = reached < from - 1 ? reached : firstGap?.gapFrom;
      if (missingFrom === undefined) return [];
      const late = { address, history, since: Math.max(reached, missingFrom) };
      return this.#replays.mayHave(late) ? [late] : [];
    });
  }

  async #page({ topics, commitment, since: wanted, held }: EventQuery): Promise<EventPage | undefined> {
    while (!this.#compareSome(topics)) await ownTurn();
    const known = topics.map(({ name, address }) => this.#historyOf(name, address, commitment));
    if (!known.every((history) => history !== undefined)) return undefined;
    const isAhead = wanted !== undefined && wanted.slot > coveredBy(known) + MAX_AHEAD_SLOTS;
    const since = isAhead ? undefined : wanted;
    const histories = since === undefined ? this.#startsOf(known, topics, commitment) : known;
    if (histories === undefined) return undefined;
    const covered = coveredBy(histories);
    if (histories.some(({ states }) => (states[0]?.slot ?? 0) > covered)) return undefined; // nothing of one is known then
    const end = { slot: covered, index: topics.length - 1 };
    if (since !== undefined && !isAfter(end, since)) {
      const present = histories.map(({ states }) => states.findLast(({ slot }) => slot <= covered)?.slot ?? -1);
      return { events: [], end: since, covered: end, present, held, isWhole: true };
    }
    const parts = histories.map(({ states, from }, index) => {
      const until = states.slice(0, states.findLastIndex(({ slot }) => slot <= covered) + 1);
      return partAfter(until, { index, since, from, covered, held: held?.[index], isAhead });
    });
    return pageOf(parts, end);
  }

  /**
   * Returns what a reader begins with, no older than what a read of the accounts gets: in a gap of one, what it is live;
   * undefined while there is no slot at which all are known.
   */
  #startsOf(
    histories: readonly TopicHistory[],
    topics: EventQuery['topics'],
    commitment: Commitment,
  ): readonly TopicHistory[] | undefined {
    const least = leastCovered(histories);
    const starts = topics.map(({ name, address }, index) => {
      const history = histories[index];
      return history && gapAt(history, least) !== undefined ? this.#presentOf(name, address, commitment) : history;
    });
    const areKnown = starts.every((history) => history !== undefined);
    return areKnown && coveredBy(starts) === leastCovered(starts) ? starts : undefined;
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
    const chain = this.#chainOf(name, address, history);
    const [first] = chain.states;
    return first === undefined || first.slot > covered ? undefined : { covered, ...chain };
  }

  /** Returns what nodes have notified of, or another gateway has. */
  #notifiedOf(name: TopicName, address: string, commitment: Commitment): TopicHistory | undefined {
    const { ring, liveAccounts } = this.#options;
    const read = liveAccounts.readLive({ address, commitment, minContextSlot: undefined, shape: 'lamports' });
    if (read === undefined) return undefined;
    const history = mostAdvanced(ring.get(address));
    const chain = history && this.#chainOf(name, address, history);
    const first = chain?.states[0];
    if (history === undefined || chain === undefined || first === undefined || first.slot > read.slot)
      return this.#presentOf(name, address, commitment); // the ring has no room for it, or begins later
    const covered = Math.min(read.slot, Math.max(history.coverage.slot, history.newest.slot));
    return { covered, ...chain };
  }

  #presentOf(name: TopicName, address: string, commitment: Commitment): TopicHistory | undefined {
    const query = { address, commitment, minContextSlot: undefined, shape: 'parsed' } as const;
    const read = this.#options.liveAccounts.readLive(query);
    if (read === undefined) return undefined;
    const { slot: covered, sinceSlot: slot = covered } = read;
    const state = { slot, value: null, gapFrom: undefined, resultText: () => this.#render(name, address, read) };
    return { covered, from: slot, states: [state] };
  }

  /** Returns the states of a history and of those that it has replaced: one that begins behind the end of another follows a gap. */
  #chainOf(name: TopicName, address: string, history: AccountHistory): Pick<TopicHistory, 'from' | 'states'> {
    const own = this.#stateRow(name, address, history);
    const [first, ...rest] = own;
    const begin = this.#replays.of(address, history)?.from;
    const alone = { from: (begin ?? (first?.slot ?? 0) - 1) + 1, states: own };
    let previous = previousOf(history);
    while (previous !== undefined && previous.oldest.slot >= (first?.slot ?? 0)) previous = previousOf(previous);
    if (first === undefined || previous === undefined || hasOwnForm(name, history)) return alone;
    const { from, states } = this.#chainOf(name, address, previous);
    const before = states.filter(({ slot }) => slot < first.slot);
    const last = before.at(-1);
    if (last === undefined) return alone;
    const gapFrom = heldUntil(previous, first.slot - 1) ?? last.slot;
    if (gapFrom < Math.min(first.slot - 1, begin ?? first.slot))
      return { from, states: [...before, { ...first, gapFrom }, ...rest] };
    return { from, states: [...before, ...(this.#isSame(last, first) ? rest : own)] };
  }

  #isSame({ value: before }: KnownState, first: KnownState): boolean {
    const known = this.#joints.get(first);
    if (known?.before === before) return known.isSame;
    const isSame = showsSame(before, first.value);
    this.#joints.set(first, { before, isSame });
    return isSame;
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
    const before = this.#replays.of(address, history)?.versions ?? [];
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
    const params = { addr: address, commitment: 'confirmed' };
    const live = { readLive: () => read, readLiveBalances: () => undefined };
    return toJson(route.resolveLive?.(params, live, undefined)?.result);
  }
}

/** Whether a node's parser shows an account: a reader of its bytes can have nothing that a node has notified of. */
const hasOwnForm = (name: TopicName, { oldest: { value } }: AccountHistory): boolean =>
  name === 'account' && value !== null && isValue(value) && isParsed(value);

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

const leastCovered = (histories: readonly TopicHistory[]): Slot => Math.min(...histories.map(({ covered }) => covered));

/** Returns the slot from which on it is not known what a topic shows at a slot; undefined where that is known. */
const gapAt = ({ states }: TopicHistory, slot: Slot): Slot | undefined => {
  const next = states[states.findLastIndex((state) => state.slot <= slot) + 1];
  return next?.gapFrom !== undefined && next.gapFrom < slot ? next.gapFrom : undefined;
};

/** Returns the last slot at which it is known what each topic shows: none in a gap of one of them. */
function coveredBy(histories: readonly TopicHistory[]): Slot {
  let covered = leastCovered(histories);
  for (let last = Number.POSITIVE_INFINITY; covered < last; ) {
    last = covered;
    for (const history of histories) covered = gapAt(history, covered) ?? covered;
  }
  return covered;
}
