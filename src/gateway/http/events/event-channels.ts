import type { AccountChangeSource, AccountSubscription } from '../../../shared/domain/account-change.ts';
import type { Clock } from '../../../shared/domain/clock.ts';
import type { Commitment } from '../../../shared/domain/commitment.ts';
import { type EventId, isAfter } from '../../../shared/domain/event-id.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { ownTurn } from '../../../shared/runtime/own-turn.ts';
import { repeat } from '../../../shared/runtime/repeat.ts';
import { sleep } from '../../../shared/runtime/sleep.ts';
import type { TopicName } from '../../routes/stream-topics.ts';
import type { ReadEvents } from './event-log.ts';
import type { EventPage } from './event-page.ts';
import type { EventSealer, SealedEvent } from './event-sealer.ts';

/** A reader of a channel. */
export interface EventSubscriber {
  /** The caller that the places of the accounts count for. */
  readonly callerName: string;
  /**
   * Sends events, and with `isMark` up to where they are known. Returns the id up to which it has sent, undefined where there is
   * no room: then {@link Membership.resume} continues.
   */
  deliver(events: readonly SealedEvent[], end: EventId, isMark: boolean): EventId | undefined;
  /** Called when no more events can be had. */
  onEnd(reason: GatewayError): void;
}

/** The part that a subscriber has in a channel. */
export interface Membership {
  /** Continues where there was no room. */
  resume(): void;
  leave(): void;
}

/** What a channel is about: all its subscribers get the same events. */
export interface ChannelTopics {
  readonly topics: readonly { readonly name: TopicName; readonly address: string }[];
  readonly commitment: Commitment;
}

export interface EventChannelsOptions {
  readonly read: ReadEvents;
  readonly sealer: EventSealer;
  readonly liveAccounts: AccountChangeSource;
  readonly clock: Clock;
}

/** Time between two marks, which also show that a stream is alive: proxies close one that is silent for a minute. */
const MARK_MS = 10_000;
/** Time until a read that has failed, or that has not covered a change, is tried again. */
const RETRY_MS = 200;
/** The longest time until the accounts of a new subscriber are known. */
const FIRST_READ_MS = 20_000;
/** Time that a channel or a topic without subscribers stays open, so that one that reconnects finds its accounts known. */
export const GRACE_PERIOD_MS = 10_000;

/** The channels of a process, by what they are about. */
export class EventChannels {
  readonly #options: EventChannelsOptions;
  readonly #channels = new Map<string, EventChannel>();
  readonly #stopMarks: () => void;

  constructor(options: EventChannelsOptions) {
    this.#options = options;
    this.#stopMarks = repeat(options.clock, MARK_MS, () => {
      for (const channel of this.#channels.values()) channel.mark();
    });
  }

  /** Adds a subscriber that wants what is behind an id. Throws `overloaded` if an account can have no place. */
  join(about: ChannelTopics, since: EventId | undefined, subscriber: EventSubscriber): Membership {
    const key = `${about.commitment} ${about.topics.map(({ name, address }) => `${name}:${address}`).join()}`;
    let channel = this.#channels.get(key);
    if (channel === undefined) {
      channel = new EventChannel(this.#options, about, subscriber.callerName, () => this.#channels.delete(key));
      this.#channels.set(key, channel);
    } else channel.addCaller(subscriber.callerName);
    return channel.join(since, subscriber);
  }

  close(): void {
    this.#stopMarks();
    for (const channel of [...this.#channels.values()]) channel.close();
  }
}

interface Member {
  readonly subscriber: EventSubscriber;
  /** Up to where it has got events; undefined before its first. */
  cursor: EventId | undefined;
  /** The states that it has; undefined until it has got what it begins with. */
  held: EventPage['held'];
  /** Whether it gets what the channel reads; otherwise it reads by itself. */
  isLive: boolean;
  isReading: boolean;
  hasLeft: boolean;
}

class EventChannel {
  readonly #options: EventChannelsOptions;
  readonly #about: ChannelTopics;
  readonly #onClosed: () => void;
  readonly #accounts: AccountSubscription[] = [];
  readonly #members = new Set<Member>();
  #cursor: EventId | undefined;
  #held: EventPage['held'];
  /** The newest slot at which an account was reported to have changed. */
  #changedSlot: Slot = -1;
  #isAdvancing = false;
  #isDue = false;
  #isMarkDue = false;
  #isClosed = false;
  #endGracePeriod: (() => void) | undefined;

  constructor(options: EventChannelsOptions, about: ChannelTopics, firstCaller: string, onClosed: () => void) {
    this.#options = options;
    this.#about = about;
    this.#onClosed = onClosed;
    const subscriber = {
      onChange: ({ slot }: { slot: Slot }) => {
        this.#changedSlot = Math.max(this.#changedSlot, slot);
        void this.#advance();
      },
      onEnd: (reason: GatewayError) => this.#end(reason),
    };
    try {
      for (const address of new Set(about.topics.map((topic) => topic.address))) {
        this.#accounts.push(options.liveAccounts.subscribe(address, about.commitment, subscriber, firstCaller));
        if (about.commitment === 'confirmed') continue;
        // A node notifies of each confirmed block, of finalized ones only the newest: the ring has the former.
        const silent = { onChange() {}, onEnd: subscriber.onEnd };
        this.#accounts.push(options.liveAccounts.subscribe(address, 'confirmed', silent, firstCaller));
      }
    } catch (thrown) {
      this.close();
      throw thrown;
    }
  }

  addCaller(caller: string): void {
    for (const account of this.#accounts) account.addCaller(caller);
    this.#endGracePeriod?.();
  }

  join(since: EventId | undefined, subscriber: EventSubscriber): Membership {
    const member: Member = {
      subscriber,
      cursor: since,
      held: undefined,
      isLive: false,
      isReading: false,
      hasLeft: false,
    };
    this.#members.add(member);
    void this.#catchUp(member);
    return {
      resume: () => void this.#catchUp(member),
      leave: () => this.#leave(member),
    };
  }

  /** Lets all subscribers know up to where they have all events. */
  mark(): void {
    if (this.#members.size === 0) return;
    if (this.#isAdvancing) {
      this.#sendMarks(); // a read may last long: until a feed has sent again what one account lacks
      return;
    }
    this.#isMarkDue = true;
    void this.#advance();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const account of this.#accounts) account.end();
    this.#onClosed();
  }

  #end(reason: GatewayError): void {
    for (const member of [...this.#members]) {
      member.hasLeft = true;
      this.#members.delete(member);
      member.subscriber.onEnd(reason);
    }
    this.close();
  }

  #leave(member: Member): void {
    if (!this.#members.delete(member)) return;
    member.hasLeft = true;
    const { callerName } = member.subscriber;
    const removeCaller = (): void => {
      for (const account of this.#accounts) account.removeCaller(callerName);
    };
    if (this.#members.size > 0) {
      removeCaller();
      return;
    }
    const cancel = this.#options.clock.after(GRACE_PERIOD_MS, () => this.close());
    this.#endGracePeriod = () => {
      cancel();
      this.#endGracePeriod = undefined;
      removeCaller();
    };
  }

  /** Reads for one subscriber until it has what the channel has. */
  async #catchUp(member: Member): Promise<void> {
    if (member.isReading || member.isLive) return;
    member.isReading = true;
    try {
      const deadlineMs = this.#options.clock.monotonic() + FIRST_READ_MS;
      while (!member.hasLeft) {
        const { cursor: since, held } = member;
        const page = await this.#options.read({ ...this.#about, since, held }, () => !member.hasLeft);
        const events = page && (await this.#seal(page));
        if (member.hasLeft) return;
        if (page === undefined || events === undefined) {
          if (this.#options.clock.monotonic() > deadlineMs) throw notKnownError();
          await this.#pause();
          continue;
        }
        if (!deliver(member, events, page, member.held === undefined)) return; // its owner resumes it
        if (!page.isWhole) {
          await ownTurn(); // nothing else waits where all bodies are sealed
          continue;
        }
        if (this.#cursor === undefined || !isAfter(this.#cursor, page.end)) {
          if (this.#cursor === undefined) [this.#cursor, this.#held] = [page.covered, page.present];
          member.isLive = true;
          if (this.#isDue) void this.#advance(); // a change came while nobody was live
          return;
        }
        await this.#pause(); // the channel has read what this process does not know any more
      }
    } catch (thrown) {
      if (member.hasLeft) return;
      this.#leave(member);
      member.subscriber.onEnd(GatewayError.from(thrown));
    } finally {
      member.isReading = false;
    }
  }

  /** Reads what is new, for all subscribers that have what was before. */
  async #advance(): Promise<void> {
    this.#isDue = true;
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    await undefined; // a feed reports a change while it still applies the block, which may change other accounts too
    try {
      while (this.#isDue && this.#cursor !== undefined && !this.#isClosed) {
        this.#isDue = false;
        const since = this.#cursor;
        const page = await this.#options.read({ ...this.#about, since, held: this.#held });
        const events = page && (await this.#seal(page));
        const isMark = this.#isMarkDue;
        this.#isMarkDue = false;
        if (page !== undefined && events !== undefined) {
          [this.#cursor, this.#held] = [page.end, page.held];
          for (const member of this.#members)
            if (member.isLive) this.#continue(member, events, { ...page, since }, isMark);
        } else if (isMark) this.#sendMarks();
        if (page?.isWhole === false) {
          await ownTurn();
          this.#isDue = true;
        } else if (this.#changedSlot > (this.#cursor?.slot ?? 0)) {
          await this.#pause();
          this.#isDue = true;
        }
      }
    } catch {
      await this.#pause();
      if (this.#members.size > 0) queueMicrotask(() => void this.#advance());
    } finally {
      this.#isAdvancing = false;
    }
  }

  /** Lets live members know that they have all up to where they are. */
  #sendMarks(): void {
    for (const { isLive, subscriber, cursor = this.#cursor } of this.#members)
      if (isLive && cursor !== undefined) subscriber.deliver([], cursor, true);
  }

  /** Gives a live member what is new to it. */
  #continue(member: Member, events: readonly SealedEvent[], page: ReadPage, isMark: boolean): void {
    const { cursor = page.since } = member;
    const isAhead = isAfter(cursor, page.end) && !beginAgain(events);
    if (member.held === undefined && !isAhead) {
      member.isLive = false; // it knew later blocks: now these are known here
      void this.#catchUp(member);
      return;
    }
    const isFurther = isAfter(cursor, page.since); // than those for whom the page was read
    const isNew = ({ event: { gap, slot, index } }: SealedEvent): boolean =>
      gap?.isAhead === true || !isFurther || isAfter({ slot, index }, cursor);
    const known = isAhead ? { end: cursor, held: member.held } : page;
    member.isLive = deliver(member, events.filter(isNew), known, isMark); // false: there was no room for all
  }

  #seal({ events }: EventPage): Promise<readonly SealedEvent[]> {
    const { topics, commitment } = this.#about;
    return Promise.all(
      events.flatMap((event) => {
        const topic = topics[event.index];
        return topic === undefined ? [] : this.#options.sealer.seal({ ...topic, commitment }, event);
      }),
    );
  }

  #pause(): Promise<void> {
    return sleep(this.#options.clock, RETRY_MS);
  }
}

/** A page of what is behind an id. */
type ReadPage = EventPage & { readonly since: EventId };

/** Delivers a page to a member. Returns false if there was no room for all. */
function deliver(
  member: Member,
  events: readonly SealedEvent[],
  { end, held }: Pick<EventPage, 'end' | 'held'>,
  isMark: boolean,
): boolean {
  const reached = member.subscriber.deliver(events, end, isMark);
  if (reached === undefined) return false;
  if (member.cursor === undefined || isAfter(reached, member.cursor) || beginAgain(events)) member.cursor = reached;
  member.held = reached === end ? held : undefined;
  return reached === end;
}

/** Whether events are states for a reader that named an event of another ledger: what it has says nothing about this one. */
const beginAgain = (events: readonly SealedEvent[]): boolean => events.some(({ event }) => event.gap?.isAhead === true);

const notKnownError = (): GatewayError =>
  new GatewayError('upstream_unavailable', 'the account is not known yet: try again in a moment', { retryAfter: 1 });
