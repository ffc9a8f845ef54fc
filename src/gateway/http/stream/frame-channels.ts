import { API_PREFIX, parseTarget } from '../../../shared/domain/canonical-request.ts';
import type { Clock } from '../../../shared/domain/clock.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { NetworkSnapshot } from '../../../shared/domain/network-snapshot.ts';
import type { Entry } from '../../cache/entry.ts';
import type { Sealer } from '../../serving/sealer.ts';
import { EncodedFrame, type FrameEncoding, type FrameFormat } from './encoded-frame.ts';
import { Fanout } from './fanout.ts';
import { type Publish, ShardQueue } from './shard-queue.ts';

/** The connections that get the same frames. */
export interface FrameChannel extends FrameEncoding {
  readonly intervalMs: number;
  readonly fanout: Fanout;
  lastSentMs: number;
}

const FORMATS: readonly FrameFormat[] = ['json', 'msgpack'];
const INTERVALS_MS = [0, 1000, 5000, 10_000] as const;

/** The targets of streams with receipts, as they are signed: the caller's spelling, in canonical order. */
const SIGNED_TARGETS = ['', 'format=json&'].flatMap((format) =>
  INTERVALS_MS.map((intervalMs) => {
    const interval = intervalMs === 0 ? '' : `interval=${intervalMs}&`;
    return { intervalMs, target: `${API_PREFIX}/stream?${format}${interval}receipts=1` };
  }),
);

/** The time by which a frame may be early for its interval: slots don't last whole seconds. */
const MAX_EARLY_MS = 200;

export class FrameChannels {
  readonly #clock: Clock;
  readonly #sealer: Sealer;
  readonly #unsignedChannels: readonly FrameChannel[];
  readonly #signedChannels: ReadonlyMap<string, FrameChannel>;
  readonly #onError: (thrown: unknown) => void;
  /** The channels whose last frame could not be encoded, and this while none could be signed. */
  readonly #failing = new Set<object>();
  #latestFrame: EncodedFrame | undefined;
  frames = 0;

  constructor(
    publish: Publish,
    sealer: Sealer,
    clock: Clock,
    polledEvents: () => number,
    onError: (thrown: unknown) => void,
  ) {
    this.#onError = onError;
    this.#clock = clock;
    this.#sealer = sealer;
    const queue = new ShardQueue(publish, polledEvents);
    const createChannel = (format: FrameFormat, intervalMs: number, target?: string): FrameChannel => {
      const fanout = new Fanout(target ?? `${format}/${intervalMs}`, queue);
      return { format, intervalMs, request: target && `SUB ${target}`, fanout, lastSentMs: -Infinity };
    };
    this.#unsignedChannels = FORMATS.flatMap((format) =>
      INTERVALS_MS.map((intervalMs) => createChannel(format, intervalMs)),
    );
    this.#signedChannels = new Map(
      SIGNED_TARGETS.map(({ target, intervalMs }) => [target, createChannel('json', intervalMs, target)]),
    );
  }

  get all(): readonly FrameChannel[] {
    return [...this.#unsignedChannels, ...this.#signedChannels.values()];
  }

  /** Returns the channel that a request target selects. Throws `invalid_query`. */
  channelFor(target: string): FrameChannel {
    const { query, canonical } = parseTarget(target);
    const signedChannel = this.#signedChannels.get(canonical);
    if (signedChannel !== undefined) return signedChannel;
    const { format = 'json', interval = '', ...unknown } = Object.fromEntries(query);
    const channel = this.#unsignedChannels.find(
      (candidate) => candidate.format === format && String(candidate.intervalMs || '') === interval,
    );
    if (channel !== undefined && Object.keys(unknown).length === 0) return channel;
    throw new GatewayError(
      'invalid_query',
      'the stream accepts format=json|msgpack, interval=1000|5000|10000, and receipts=1 with JSON',
    );
  }

  /** Returns the newest frame in the channel's encoding; undefined before the first frame, and for one that can't be encoded. */
  latestFrame(channel: FrameChannel): string | Buffer | undefined {
    return this.#attempt(channel, () => this.#latestFrame?.encodedAs(channel));
  }

  publish(entry: Entry, snapshot: NetworkSnapshot): void {
    const nowMs = this.#clock.monotonic();
    this.frames++;
    const due = this.all.filter(
      ({ fanout, lastSentMs, intervalMs }) =>
        fanout.subscriberCount > 0 && nowMs - lastSentMs >= intervalMs - MAX_EARLY_MS,
    );
    const frame = new EncodedFrame(entry, snapshot, this.#sealer);
    this.#latestFrame = frame;
    this.#attempt(this, () => frame.sign(due));
    for (const channel of due) {
      channel.lastSentMs = nowMs;
      this.#attempt(channel, () => channel.fanout.send(frame.encodedAs(channel), channel.format === 'msgpack'));
    }
  }

  /** A frame that can't be encoded costs its own channel that frame: thrown from here it would end the process. The first in a row is reported. */
  #attempt<T>(of: object, work: () => T): T | undefined {
    try {
      const done = work();
      this.#failing.delete(of);
      return done;
    } catch (thrown) {
      if (!this.#failing.has(of)) this.#onError(thrown);
      this.#failing.add(of);
      return undefined;
    }
  }
}
