import type { Feed, FeedFrame, FeedListener } from '../../src/fleet/redis/feed.ts';
import type { SharedWatch } from '../../src/fleet/shared-watch.ts';

/** Joins gateways in memory. Messages arrive when the test delivers them, in order, or are lost. */
export class FeedHub {
  leader: FeedMember | undefined;
  readonly members: FeedMember[] = [];
  readonly #isImmediate: boolean;

  /** With `isImmediate`, messages arrive in the next turn of the event loop. */
  constructor(isImmediate = false) {
    this.#isImmediate = isImmediate;
  }

  /** Has this member lead, or nobody; the others lose the leader before, and join the new one. */
  elect(leader: FeedMember | undefined): void {
    for (const member of this.members) if (member.isJoined) this.lose(member);
    this.leader = leader;
    for (const member of this.members) member.watch?.lead(member === leader);
    for (const member of this.members) this.join(member);
  }

  /** Sends a member what the leader has at this point. */
  join(member: FeedMember): void {
    if (this.leader === undefined || member === this.leader || member.watch === undefined) return;
    member.queue = [];
    const snapshot = this.leader.watch?.snapshot() ?? [];
    member.queue = [];
    member.isJoined = true;
    member.listener?.joined(snapshot);
  }

  lose(member: FeedMember): void {
    member.queue = [];
    member.isJoined = false;
    member.listener?.lost('a message was lost');
  }

  onPublished(member: FeedMember): void {
    if (this.#isImmediate) setImmediate(() => this.deliver(member));
  }

  deliver(member: FeedMember): void {
    for (const frame of member.queue.splice(0)) member.listener?.frame(frame);
  }
}

/** The place of a gateway in a hub. */
export class FeedMember implements Feed {
  readonly name: string;
  readonly #hub: FeedHub;
  listener: FeedListener | undefined;
  hear: ((member: string, frame: FeedFrame) => void) | undefined;
  queue: FeedFrame[] = [];
  isJoined = false;
  watch: SharedWatch | undefined;

  constructor(hub: FeedHub, name: string) {
    this.#hub = hub;
    this.name = name;
    hub.members.push(this);
  }

  /** Joins a gateway's watch. */
  readonly joinWatch = (watch: SharedWatch): void => {
    this.watch = watch;
    watch.open(this);
  };

  publish(frames: readonly FeedFrame[]): void {
    if (this.#hub.leader !== this) return;
    for (const member of this.#hub.members) {
      if (!member.isJoined) continue;
      member.queue.push(...frames);
      this.#hub.onPublished(member);
    }
  }

  follow(listener: FeedListener): () => void {
    this.listener = listener;
    return () => {};
  }

  tell(frame: FeedFrame): void {
    this.#hub.leader?.hear?.(this.name, frame);
  }

  onTold(hear: (member: string, frame: FeedFrame) => void): () => void {
    this.hear = hear;
    return () => {};
  }
}
