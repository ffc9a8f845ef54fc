import type { Event } from '../../src/gateway/fleet/events.ts';
import { fleetSecretOfText } from '../../src/gateway/fleet/transport/redis/fleet-secret.ts';
import { RedisChannel } from '../../src/gateway/fleet/transport/redis/redis-channel.ts';
import { ManualClock } from './manual-clock.ts';

const PREFIX = 'fleet:';
const SECRET = fleetSecretOfText(Buffer.alloc(32, 7));

/** A message on its way to one member. */
interface InFlight {
  readonly channel: string;
  readonly bytes: Buffer;
}

/** The place in a leader's events that a gateway has reached: it knows nothing at -1. */
interface Place {
  epoch: number;
  count: number;
}

const eventOf = (epoch: number, count: number, extra = 0): Event => ({
  type: 'watermark-advanced',
  id: epoch,
  commitment: undefined,
  slot: count,
  ageMs: 0,
  state: 'active',
  lagSlots: extra,
});

/** Returns the numbers that an event was made of. */
function numbersIn(event: Event): readonly number[] {
  return event.type === 'watermark-advanced' ? [event.id, event.slot, event.lagSlots] : [];
}

/** A gateway at the channel: what a leader keeps is the number of the events that it has sent. */
export class ChannelMember {
  readonly channel: RedisChannel;
  readonly name: string;
  readonly inbox: InFlight[] = [];
  readonly #subscribers = new Map<string, (bytes: Buffer) => void>();
  /** The events sent in the epoch that it leads; 0 is no epoch. */
  own: Place = { epoch: 0, count: 0 };
  /** Where it is in the events of another; undefined while it knows nothing. */
  at: Place | undefined;
  newestEpoch = 0;
  readonly reported: string[] = [];
  readonly violations: string[] = [];

  constructor(world: ChannelWorld, name: string) {
    this.name = name;
    this.channel = new RedisChannel({
      redis: {
        subscribe: (channel, listener) => {
          this.#subscribers.set(channel, listener);
          return () => this.#subscribers.delete(channel);
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
      atEndOfTurn: (work) => world.atEndOfTurn.push(work),
      messageBytes: 1, // an event each
    });
    this.channel.subscribe({
      snapshot: () => [eventOf(this.own.epoch, this.own.count, -1), eventOf(this.own.epoch, this.own.count)],
      onJoined: (snapshot) => this.#onJoined(snapshot.map(numbersIn)),
      onEvent: (event) => this.#onEvent(event),
      onLost: () => {
        if (this.at === undefined) this.violations.push('lost twice');
        this.at = undefined;
      },
    });
  }

  receives(channel: string): boolean {
    return this.#subscribers.has(channel);
  }

  receive({ channel, bytes }: InFlight): void {
    this.#subscribers.get(channel)?.(bytes);
  }

  /** Follows from now on, and has no events of its own. */
  resign(): void {
    this.own = { epoch: 0, count: 0 };
    this.channel.resign();
  }

  publish(events: number): void {
    for (let i = 0; i < events; i++) {
      this.own.count++;
      this.channel.publish(eventOf(this.own.epoch, this.own.count));
    }
  }

  #onJoined(snapshot: readonly (readonly number[])[]): void {
    const [[epoch = 0, count = 0] = []] = snapshot;
    if (snapshot.length !== 2 || snapshot[0]?.[2] !== -1)
      this.violations.push(`a snapshot of ${JSON.stringify(snapshot)}`);
    if (this.at !== undefined) this.violations.push('joined twice');
    this.#turnTo(epoch);
    this.at = { epoch, count };
  }

  #onEvent(event: Event): void {
    if (event.type === 'states-read') {
      this.reported.push(...event.reads.map(({ key }) => key.address));
      return;
    }
    const [epoch = 0, count = 0] = numbersIn(event);
    const { at } = this;
    if (at === undefined) this.violations.push(`event ${count} while nothing is known`);
    else if (at.epoch !== epoch || at.count + 1 !== count)
      this.violations.push(`event ${epoch}/${count} behind ${at.epoch}/${at.count}`);
    else at.count = count;
    this.#turnTo(epoch);
  }

  #turnTo(epoch: number): void {
    if (epoch < this.newestEpoch) this.violations.push(`epoch ${epoch} after ${this.newestEpoch}`);
    this.newestEpoch = epoch;
  }
}

/** Gateways that share a channel over a bus which may lose, repeat and delay messages, and where strangers write. */
export class ChannelWorld {
  readonly clock = new ManualClock();
  readonly atEndOfTurn: (() => void)[] = [];
  readonly members: readonly ChannelMember[];
  /** All messages so far: a stranger has recorded them. */
  readonly recorded: InFlight[] = [];
  leader: ChannelMember | undefined;
  #epoch = 0;

  constructor(members: number) {
    this.members = Array.from({ length: members }, (_, i) => new ChannelMember(this, `gateway-${i}`));
  }

  send(channel: string, bytes: Buffer): void {
    this.recorded.push({ channel, bytes });
    for (const member of this.members) if (member.receives(channel)) member.inbox.push({ channel, bytes });
  }

  /** A member is elected. The one before may not know yet: it goes on. */
  elect(member: ChannelMember): void {
    this.leader = member;
    member.own = { epoch: ++this.#epoch, count: 0 };
    member.newestEpoch = this.#epoch;
    member.channel.lead(this.#epoch);
  }

  endTurn(): void {
    for (const work of this.atEndOfTurn.splice(0)) work();
  }

  /** Lets time pass in steps, in which all that was sent arrives. */
  settle(ms: number): void {
    for (let passed = 0; passed < ms; passed += 50) {
      this.clock.advance(50);
      this.endTurn();
      for (const member of this.members) for (const message of member.inbox.splice(0)) member.receive(message);
      this.endTurn();
    }
  }

  get violations(): readonly string[] {
    return this.members.flatMap(({ name, violations }) => violations.map((violation) => `${name}: ${violation}`));
  }
}
