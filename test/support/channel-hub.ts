import type { Channel, ChannelListener } from '../../src/gateway/fleet/channel.ts';
import { EventCodec } from '../../src/gateway/fleet/codec.ts';
import type { Event } from '../../src/gateway/fleet/events.ts';
import type { SharedWatch } from '../../src/gateway/fleet/replication/shared-watch.ts';

const codec = new EventCodec();

/** Joins gateways in memory. Events arrive when the test delivers them, in order, or are lost. */
export class ChannelHub {
  leader: ChannelMember | undefined;
  readonly members: ChannelMember[] = [];
  readonly #isImmediate: boolean;

  /** With `isImmediate`, events arrive in the next turn of the event loop. */
  constructor(isImmediate = false) {
    this.#isImmediate = isImmediate;
  }

  /** Makes this member lead, or nobody; the others lose the leader before, and join the new one. */
  elect(leader: ChannelMember | undefined): void {
    for (const member of this.members) if (member.isJoined) this.lose(member);
    this.leader = leader;
    for (const member of this.members) member.watch?.lead(member === leader);
    for (const member of this.members) this.join(member);
  }

  /** Sends a member what the leader has at this point. */
  join(member: ChannelMember): void {
    if (this.leader === undefined || member === this.leader || member.watch === undefined) return;
    member.queue = [];
    const snapshot = this.leader.listener?.snapshot() ?? [];
    member.queue = [];
    member.isJoined = true;
    member.listener?.onJoined(snapshot.map(copyOf));
  }

  lose(member: ChannelMember): void {
    member.queue = [];
    member.isJoined = false;
    member.listener?.onLost('a message was lost');
  }

  onPublished(member: ChannelMember): void {
    if (this.#isImmediate) setImmediate(() => this.deliver(member));
  }

  deliver(member: ChannelMember): void {
    for (const event of member.queue.splice(0)) member.listener?.onEvent(event);
  }
}

/** The place of a gateway in a hub. */
export class ChannelMember implements Channel {
  readonly name: string;
  readonly #hub: ChannelHub;
  listener: ChannelListener | undefined;
  queue: Event[] = [];
  isJoined = false;
  watch: SharedWatch | undefined;

  constructor(hub: ChannelHub, name: string) {
    this.#hub = hub;
    this.name = name;
    hub.members.push(this);
  }

  /** Joins a gateway's watch. */
  readonly joinWatch = (watch: SharedWatch): void => {
    this.watch = watch;
    watch.open(this);
  };

  publish(event: Event): void {
    const { leader, members } = this.#hub;
    if (leader !== this) {
      leader?.listener?.onEvent(copyOf(event));
      return;
    }
    for (const member of members) {
      if (!member.isJoined) continue;
      member.queue.push(copyOf(event));
      this.#hub.onPublished(member);
    }
  }

  subscribe(listener: ChannelListener): () => void {
    this.listener = listener;
    return () => {};
  }
}

const copyOf = (event: Event): Event => codec.decode(codec.encode(event));
