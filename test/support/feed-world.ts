import type { FeedFrame } from '../../src/fleet/redis/feed.ts';
import { FleetSecret } from '../../src/fleet/redis/fleet-secret.ts';
import { RedisFeed } from '../../src/fleet/redis/redis-feed.ts';
import { ManualClock } from './manual-clock.ts';

const PREFIX = 'fleet:';
const SECRET = new FleetSecret(Buffer.alloc(32, 7));
const FRAME_TYPE = 40;

/** A message on its way to one member. */
interface InFlight {
  readonly channel: string;
  readonly bytes: Buffer;
}

/** The place in a leader's frames that a gateway has reached: it knows nothing at -1. */
interface Place {
  epoch: number;
  count: number;
}

const frameOf = (...numbers: readonly number[]): FeedFrame => ({
  type: FRAME_TYPE,
  payload: Buffer.from(JSON.stringify(numbers)),
});
const numbersIn = ({ payload }: FeedFrame): number[] => JSON.parse(payload.toString());

/** A gateway at the feed: what a leader keeps is the number of the frames that it has sent. */
export class FeedMember {
  readonly feed: RedisFeed;
  readonly name: string;
  readonly inbox: InFlight[] = [];
  readonly #hearers = new Map<string, (bytes: Buffer) => void>();
  /** The frames sent in the epoch that it leads; 0 is no epoch. */
  own: Place = { epoch: 0, count: 0 };
  /** Where it is in the frames of another; undefined while it knows nothing. */
  at: Place | undefined;
  newestEpoch = 0;
  readonly told: string[] = [];
  readonly violations: string[] = [];

  constructor(world: FeedWorld, name: string) {
    this.name = name;
    this.feed = new RedisFeed({
      redis: {
        subscribe: (channel, hear) => {
          this.#hearers.set(channel, hear);
          return () => this.#hearers.delete(channel);
        },
        async publish(channel, bytes) {
          world.send(channel, bytes);
          return true;
        },
      },
      member: name,
      prefix: PREFIX,
      clock: world.clock,
      random: () => 0.5,
      secret: SECRET,
      snapshot: () => [frameOf(this.own.epoch, this.own.count, -1), frameOf(this.own.epoch, this.own.count)],
      atEndOfTurn: (work) => world.atEndOfTurn.push(work),
      messageBytes: 1, // a frame each, and a snapshot in two pieces
    });
    this.feed.onTold((member, frame) => this.told.push(`${member} ${numbersIn(frame)}`));
    this.feed.follow({
      joined: (snapshot) => this.#onJoined(snapshot.map(numbersIn)),
      frame: (frame) => this.#onFrame(numbersIn(frame)),
      lost: () => {
        if (this.at === undefined) this.violations.push('lost twice');
        this.at = undefined;
      },
    });
  }

  hears(channel: string): boolean {
    return this.#hearers.has(channel);
  }

  hear({ channel, bytes }: InFlight): void {
    this.#hearers.get(channel)?.(bytes);
  }

  publish(frames: number): void {
    for (let i = 0; i < frames; i++) {
      this.own.count++;
      this.feed.publish([frameOf(this.own.epoch, this.own.count)]);
    }
  }

  #onJoined(snapshot: readonly number[][]): void {
    const [[epoch = 0, count = 0] = []] = snapshot;
    if (snapshot.length !== 2 || snapshot[0]?.length !== 3)
      this.violations.push(`a snapshot of ${JSON.stringify(snapshot)}`);
    if (this.at !== undefined) this.violations.push('joined twice');
    this.#turnTo(epoch);
    this.at = { epoch, count };
  }

  #onFrame([epoch = 0, count = 0]: readonly number[]): void {
    const { at } = this;
    if (at === undefined) this.violations.push(`frame ${count} while nothing is known`);
    else if (at.epoch !== epoch || at.count + 1 !== count)
      this.violations.push(`frame ${epoch}/${count} behind ${at.epoch}/${at.count}`);
    else at.count = count;
    this.#turnTo(epoch);
  }

  #turnTo(epoch: number): void {
    if (epoch < this.newestEpoch) this.violations.push(`epoch ${epoch} after ${this.newestEpoch}`);
    this.newestEpoch = epoch;
  }
}

/** Gateways that share a feed over a bus which may lose, repeat and delay messages, and where strangers write. */
export class FeedWorld {
  readonly clock = new ManualClock();
  readonly atEndOfTurn: (() => void)[] = [];
  readonly members: readonly FeedMember[];
  /** All messages so far: a stranger has recorded them. */
  readonly recorded: InFlight[] = [];
  leader: FeedMember | undefined;
  #epoch = 0;

  constructor(members: number) {
    this.members = Array.from({ length: members }, (_, i) => new FeedMember(this, `gateway-${i}`));
  }

  send(channel: string, bytes: Buffer): void {
    this.recorded.push({ channel, bytes });
    for (const member of this.members) if (member.hears(channel)) member.inbox.push({ channel, bytes });
  }

  /** A member is elected. The one before may not know yet: it goes on. */
  elect(member: FeedMember): void {
    this.leader = member;
    member.own = { epoch: ++this.#epoch, count: 0 };
    member.newestEpoch = this.#epoch;
    member.feed.lead(this.#epoch);
  }

  endTurn(): void {
    for (const work of this.atEndOfTurn.splice(0)) work();
  }

  /** Lets time pass in steps, in which all that was sent arrives. */
  settle(ms: number): void {
    for (let passed = 0; passed < ms; passed += 50) {
      this.clock.advance(50);
      this.endTurn();
      for (const member of this.members) for (const message of member.inbox.splice(0)) member.hear(message);
      this.endTurn();
    }
  }

  get violations(): readonly string[] {
    return this.members.flatMap(({ name, violations }) => violations.map((violation) => `${name}: ${violation}`));
  }
}
