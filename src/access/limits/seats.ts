import type { Clock } from '../../domain/clock.ts';
import { type Identity, siteOf } from './identity.ts';
import { SITE_FACTOR } from './limiter.ts';
import type { Tier } from './tier.ts';

/** Messages a second on one connection: who has much to say can open another. */
const MESSAGES = 10;

/** All connections of one identity. */
interface Party {
  seats: number;
  /** Counts a message, and tells the number of those in this second. */
  readonly count: () => number;
}

/** One WebSocket connection's place, and what it may do there. */
export interface Seat {
  /** Counts a message; false when there were too many in this second, on it or on all connections of its identity. */
  message(): boolean;
  leave(): void;
}

/** Who holds how many connections. An IPv6 /48 may hold some times as many as a /64 in it. */
export class Seats {
  readonly #clock: Clock;
  readonly #parties = new Map<Identity, Party>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many identities hold any. */
  get size(): number {
    return this.#parties.size;
  }

  /** Undefined when the identity holds as many as it may. */
  take(identity: Identity, tier: Tier): Seat | undefined {
    const site = siteOf(identity);
    if (this.#heldBy(identity) >= tier.streams) return undefined;
    if (site !== undefined && this.#heldBy(site) >= tier.streams * SITE_FACTOR) return undefined;
    const party = this.#join(identity);
    if (site !== undefined) this.#join(site);
    const count = perSecond(this.#clock);
    return {
      message: () => count() <= MESSAGES && party.count() <= tier.messages,
      leave: () => {
        this.#leave(identity);
        if (site !== undefined) this.#leave(site);
      },
    };
  }

  #heldBy(identity: Identity): number {
    return this.#parties.get(identity)?.seats ?? 0;
  }

  #join(identity: Identity): Party {
    const party = this.#parties.get(identity) ?? { seats: 0, count: perSecond(this.#clock) };
    party.seats++;
    this.#parties.set(identity, party);
    return party;
  }

  #leave(identity: Identity): void {
    const party = this.#parties.get(identity);
    if (party !== undefined && --party.seats === 0) this.#parties.delete(identity);
  }
}

/** Counts up from 1 in each second, which begins with the first count after the one before. */
function perSecond(clock: Clock): () => number {
  let count = 0;
  let beganMs = clock.monotonic();
  return () => {
    const nowMs = clock.monotonic();
    if (nowMs - beganMs >= 1000) {
      beganMs = nowMs;
      count = 0;
    }
    return ++count;
  };
}
