import { LRUCache } from 'lru-cache';
import { chainDigest } from '../../../client/verify/index.ts';
import type { Commitment } from '../../../shared/domain/commitment.ts';
import { formatEventId } from '../../../shared/domain/event-id.ts';
import { digestOf } from '../../receipts/digest.ts';
import { accountTopicOf, type TopicName } from '../../routes/stream-topics.ts';
import type { Sealer } from '../../serving/sealer.ts';
import type { EventGap, TopicEvent } from './event-page.ts';

/** The topic of an event: its chain has one for each commitment. */
export interface EventTopic {
  readonly name: TopicName;
  readonly address: string;
  readonly commitment: Commitment;
}

/** An event with its receipt, as all subscribers get it. */
export interface SealedEvent {
  readonly index: number;
  readonly event: TopicEvent;
  readonly topic: EventTopic;
  /** Members of its frame before the answer, which begin with a comma. */
  readonly members: string;
  readonly body: string;
}

interface Job {
  readonly topic: EventTopic;
  readonly event: TopicEvent;
  readonly resolve: (body: string) => void;
  readonly reject: (reason: unknown) => void;
}

export interface EventSealerOptions {
  readonly sealer: Pick<Sealer, 'sealEvents' | 'invalidUntilMs'>;
  /** The genesis hash that receipts name. */
  readonly cluster: () => string | undefined;
  /** About the most bytes of the bodies that are kept for the subscribers that come later. */
  readonly maxBytes: number;
}

/** The most events under one signature, and in a turn of the event loop: more make the path of each longer. */
const BATCH = 64;
/** What the body of an event has besides its result. */
const RECEIPT_LENGTH = 1000;

/** Seals each event once for all subscribers, and the events of a turn of the event loop under one signature. */
export class EventSealer {
  readonly #options: EventSealerOptions;
  readonly #bodies: LRUCache<string, Promise<string>>;
  #jobs: Job[] = [];

  constructor(options: EventSealerOptions) {
    this.#options = options;
    this.#bodies = new LRUCache({ maxSize: options.maxBytes });
  }

  async seal(topic: EventTopic, event: TopicEvent): Promise<SealedEvent> {
    const { slot, before, index, result } = event;
    const { invalidUntilMs } = this.#options.sealer; // what was signed until then must not be sent any more
    const key = [...Object.values(topic), slot, before?.slot ?? '', digestOf(result), invalidUntilMs].join();
    let body = this.#bodies.get(key);
    if (body === undefined) {
      body = this.#bodyOf(topic, event);
      this.#bodies.set(key, body, { size: result.length + RECEIPT_LENGTH });
      body.catch(() => this.#bodies.delete(key));
    }
    return { index, event, topic, members: membersOf(event), body: await body };
  }

  #bodyOf(topic: EventTopic, event: TopicEvent): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#jobs.push({ topic, event, resolve, reject });
      if (this.#jobs.length === 1) setImmediate(() => this.#flush());
    });
  }

  #flush(): void {
    const batch = this.#jobs.splice(0, BATCH);
    if (this.#jobs.length > 0) setImmediate(() => this.#flush());
    try {
      const bodies = this.#options.sealer.sealEvents(batch.map(({ topic, event }) => this.#statementOf(topic, event)));
      for (const [i, { resolve }] of batch.entries()) resolve(bodies[i] ?? '');
    } catch (reason) {
      for (const { reject } of batch) reject(reason);
    }
  }

  #statementOf({ name, address, commitment }: EventTopic, { slot, result, before }: TopicEvent) {
    const cluster = this.#options.cluster() ?? '';
    const topic = accountTopicOf(name, address, commitment === 'confirmed' ? undefined : commitment);
    const request = `SUB ${topic.request.key}`;
    const previous =
      before && chainDigest({ cluster, request, slot: before.slot, commitment, digest: digestOf(before.result) });
    return { request, slot, commitment, result, previous };
  }
}

/** The text that begins the last member of a frame: a state that contains it can't stand before. */
const ANSWER = ',"answer":';

function membersOf({ slot, index, before, gap, isComplete }: TopicEvent): string {
  if (before === null) return `,"gap":${gap === null ? 'null' : gapText(gap)}`;
  const state = before.result.includes(ANSWER) ? '' : `,"before":{"slot":${before.slot},"result":${before.result}}`;
  return isComplete ? `,"event":"${formatEventId({ slot, index })}"${state}` : state;
}

function gapText({ from, to, isAhead }: EventGap): string {
  const message = isAhead
    ? `the event that was named is ahead of slot ${to}, the newest here: it is of another ledger`
    : `changes after slot ${from} and up to slot ${to} may be missing: at most ${to - from} slots`;
  return JSON.stringify({ from, to, message });
}
