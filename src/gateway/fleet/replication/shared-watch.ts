import type { RestingMesh } from '../../upstream/mesh/mesh.ts';
import type { Channel } from '../channel.ts';
import type { Event } from '../events.ts';
import { StateFollower, type StateFollowerOptions } from './state-follower.ts';
import { StatePublisher } from './state-publisher.ts';

/**
 * What a gateway does of the watch that a fleet shares. `leading`: it subscribes, and publishes to the others. `following`:
 * it applies what the leader publishes. `waiting`: it has followed, and receives nothing. `alone`: it subscribes for itself.
 */
export type WatchRole = 'alone' | 'leading' | 'following' | 'waiting';

export interface SharedWatchOptions extends Omit<StateFollowerOptions, 'publish'> {
  readonly mesh: StateFollowerOptions['mesh'] & Pick<RestingMesh, 'rest'>;
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
  readonly #publisher: StatePublisher;
  readonly #follower: StateFollower;
  #channel: Channel | undefined;
  #unsubscribe = (): void => {};
  #role: WatchRole = 'alone';
  #cancelWait = (): void => {};

  constructor(options: SharedWatchOptions) {
    this.#options = options;
    const publish = (event: Event): void => this.#channel?.publish(event);
    this.#publisher = new StatePublisher({ ...options, publish });
    this.#follower = new StateFollower({ ...options, publish });
    options.mesh.onTip('processed', (slot) => {
      const { tip = 0 } = this.#follower;
      if (this.#role === 'following' && slot - tip > MAX_LAG_SLOTS) this.#subscribe('alone');
    });
  }

  get role(): WatchRole {
    return this.#role;
  }

  get followed(): number {
    return this.#role === 'leading' ? this.#publisher.followed : this.#follower.followed;
  }

  open(channel: Channel): void {
    this.close();
    this.#channel = channel;
    this.#unsubscribe = channel.subscribe({
      snapshot: () => this.#publisher.snapshot(),
      onJoined: (snapshot) => {
        this.#follower.join(snapshot);
        this.#followIfNear();
      },
      onEvent: (event) => {
        if (event.type === 'states-read') this.#publisher.onStatesRead(event);
        else if (this.#follower.isJoined) {
          this.#follower.apply(event);
          this.#followIfNear();
        }
      },
      onLost: () => this.#onLost(),
    });
  }

  lead(isLeader: boolean): void {
    if (isLeader === (this.#role === 'leading')) return;
    if (isLeader) {
      this.#follower.lose();
      this.#subscribe('leading');
      this.#publisher.start();
    } else {
      this.#publisher.stop();
      this.#subscribe('alone');
      this.#followIfNear(); // the next leader may be known already
    }
  }

  close(): void {
    this.#unsubscribe();
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
