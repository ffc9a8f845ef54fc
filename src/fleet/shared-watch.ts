import type { Clock } from '../domain/clock.ts';
import type { LeaseSource } from '../domain/lease.ts';
import type { LiveAccountSource } from '../live/accounts/live-account-source.ts';
import type { LiveTokenListSource } from '../live/token-lists/live-token-list-source.ts';
import type { RestingMesh } from '../upstream/mesh/mesh.ts';
import type { Feed, FeedFrame } from './redis/feed.ts';
import { WatchFollower } from './watch-follower.ts';
import { WatchPublisher } from './watch-publisher.ts';

/**
 * What a gateway does of the watch that a fleet shares. `leading`: it subscribes, and tells the others. `following`: it is
 * told. `waiting`: it has followed, and hears nothing. `alone`: it subscribes for itself.
 */
export type WatchRole = 'alone' | 'leading' | 'following' | 'waiting';

export interface SharedWatchOptions {
  readonly clock: Clock;
  readonly mesh: Pick<RestingMesh, 'tip' | 'onTip' | 'observeSlot' | 'rest'>;
  readonly accounts: LiveAccountSource;
  readonly lists: LiveTokenListSource;
  readonly onLeasesAdvanced: (source: LeaseSource) => void;
  readonly onRole?: (role: WatchRole) => void;
}

/** The time without a leader after which a gateway subscribes for itself, in milliseconds. */
const WAIT_MS = 3000;

/** How far a leader's slot may be below the own one so that it is followed. */
const MAX_JOIN_LAG_SLOTS = 2;

/** How far it may fall behind before the gateway subscribes for itself. */
const MAX_LAG_SLOTS = 20;

/** The part of a gateway in the watch of its fleet: one leads and subscribes to the nodes, the others follow it. */
export class SharedWatch {
  readonly #options: SharedWatchOptions;
  readonly #publisher: WatchPublisher;
  readonly #follower: WatchFollower;
  #feed: Feed | undefined;
  #stops: readonly (() => void)[] = [];
  #role: WatchRole = 'alone';
  #cancelWait = (): void => {};

  constructor(options: SharedWatchOptions) {
    this.#options = options;
    this.#publisher = new WatchPublisher({ ...options, publish: (frames) => this.#feed?.publish(frames) });
    this.#follower = new WatchFollower({ ...options, tell: (frame) => this.#feed?.tell(frame) });
    options.mesh.onTip('processed', (slot) => {
      const { tip = 0 } = this.#follower;
      if (this.#role === 'following' && slot - tip > MAX_LAG_SLOTS) this.#subscribe('alone');
    });
  }

  get role(): WatchRole {
    return this.#role;
  }

  /** The number of states that are followed: of this gateway by others while it leads, else of others by this one. */
  get followed(): number {
    return this.#role === 'leading' ? this.#publisher.followed : this.#follower.followed;
  }

  /** Takes part over this feed from now on. */
  open(feed: Feed): void {
    this.close();
    this.#feed = feed;
    this.#stops = [
      feed.onTold((_, frame) => this.#publisher.onTold(frame)),
      feed.follow({
        joined: (snapshot) => {
          this.#follower.join(snapshot);
          this.#followIfNear();
        },
        frame: (frame) => {
          if (!this.#follower.isJoined) return;
          this.#follower.apply(frame);
          this.#followIfNear();
        },
        lost: () => this.#onLost(),
      }),
    ];
  }

  /** Tells whether this gateway leads the fleet from now on. */
  lead(isLeader: boolean): void {
    if (isLeader === (this.#role === 'leading')) return;
    if (isLeader) {
      this.#follower.lose();
      this.#subscribe('leading');
      this.#publisher.start();
    } else {
      this.#publisher.stop();
      this.#subscribe('alone');
      this.#followIfNear(); // the next leader may have been heard of before
    }
  }

  /** Returns what a follower must know that joins at this point of the frames. */
  snapshot(): readonly FeedFrame[] {
    return this.#publisher.snapshot();
  }

  /** Takes part no more: this gateway is alone. */
  close(): void {
    for (const stop of this.#stops) stop();
    this.#stops = [];
    this.#cancelWait();
  }

  #onLost(): void {
    this.#follower.lose();
    if (this.#role !== 'following') return;
    const { clock, accounts, lists } = this.#options;
    this.#setRole('waiting');
    accounts.keepOver('nothing');
    lists.keepOver('nothing');
    this.#cancelWait = clock.after(WAIT_MS, () => this.#subscribe('alone'));
  }

  /** Follows the leader once it is not behind what is known here. */
  #followIfNear(): void {
    if (!this.#follower.isJoined || this.#role === 'leading' || this.#role === 'following') return;
    const { mesh, accounts, lists } = this.#options;
    const { tip } = this.#follower;
    if (tip === undefined || tip < (mesh.tip('processed') ?? 0) - MAX_JOIN_LAG_SLOTS) return;
    this.#cancelWait();
    this.#setRole('following');
    accounts.keepOver(this.#follower.accounts);
    lists.keepOver(this.#follower.lists);
    mesh.rest(true);
  }

  /** Goes on with subscriptions of its own. */
  #subscribe(role: 'leading' | 'alone'): void {
    const { mesh, accounts, lists } = this.#options;
    this.#cancelWait();
    this.#setRole(role);
    mesh.rest(false);
    accounts.keepOver('nodes');
    lists.keepOver('nodes');
  }

  #setRole(role: WatchRole): void {
    if (role === this.#role) return;
    this.#role = role;
    this.#options.onRole?.(role);
  }
}
