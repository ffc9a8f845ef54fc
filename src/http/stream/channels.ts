import type { Entry } from '../../cache/entry.ts';
import { API_PREFIX, parseTarget } from '../../domain/canonical-request.ts';
import type { Clock } from '../../domain/clock.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { NetworkSnapshot } from '../../domain/network-snapshot.ts';
import type { Sealer } from '../../serving/seal.ts';
import { Fanout, type Publish } from './fanout.ts';
import { type Form, type Format, Frames } from './frames.ts';

/** Those who get the same frames. */
export interface Channel extends Form {
  /** Frames are at least this far apart; 0: every frame. */
  readonly intervalMs: number;
  readonly fanout: Fanout;
  sentMs: number;
}

const FORMATS: readonly Format[] = ['json', 'msgpack'];
const INTERVALS = [0, 1000, 5000, 10_000] as const;

/** The targets of streams with receipts, as they are signed: spelled as the caller spells them, in canonical order. */
const SIGNED_TARGETS = ['', 'format=json&'].flatMap((format) =>
  INTERVALS.map((intervalMs) => {
    const interval = intervalMs === 0 ? '' : `interval=${intervalMs}&`;
    return { intervalMs, target: `${API_PREFIX}/stream?${format}${interval}receipts=1` };
  }),
);

/** A frame may come this much early and still keep its interval: slots don't tick in whole seconds. */
const SLACK_MS = 200;

/** The kinds of frames that one may listen to, and the newest frame. */
export class Channels {
  readonly #clock: Clock;
  readonly #sealer: Sealer;
  readonly #plain: readonly Channel[];
  readonly #signed: ReadonlyMap<string, Channel>;
  #latest: Frames | undefined;

  constructor(publish: Publish, sealer: Sealer, clock: Clock) {
    this.#clock = clock;
    this.#sealer = sealer;
    const open = (format: Format, intervalMs: number, target?: string): Channel => {
      const fanout = new Fanout(target ?? `${format}/${intervalMs}`, publish);
      return { format, intervalMs, request: target && `SUB ${target}`, fanout, sentMs: -Infinity };
    };
    this.#plain = FORMATS.flatMap((format) => INTERVALS.map((intervalMs) => open(format, intervalMs)));
    this.#signed = new Map(SIGNED_TARGETS.map(({ target, intervalMs }) => [target, open('json', intervalMs, target)]));
  }

  /** Reads what kind of frames a target asks for. Throws `invalid_query`. */
  at(target: string): Channel {
    const { query, canonical } = parseTarget(target);
    const withReceipts = this.#signed.get(canonical);
    if (withReceipts !== undefined) return withReceipts;
    const { format = 'json', interval = '', ...unknown } = Object.fromEntries(query);
    const channel = this.#plain.find((known) => known.format === format && String(known.intervalMs || '') === interval);
    if (channel !== undefined && Object.keys(unknown).length === 0) return channel;
    throw new GatewayError(
      'invalid_query',
      'the stream takes format=json|msgpack, interval=1000|5000|10000, and receipts=1 with JSON',
    );
  }

  /** The newest frame; undefined before the first. */
  latest(channel: Channel): string | Buffer | undefined {
    return this.#latest?.of(channel);
  }

  /** Sends a frame to all whose interval is over. */
  publish(entry: Entry, snapshot: NetworkSnapshot): void {
    const nowMs = this.#clock.monotonic();
    const due = [...this.#plain, ...this.#signed.values()].filter(
      ({ fanout, sentMs, intervalMs }) => fanout.size > 0 && nowMs - sentMs >= intervalMs - SLACK_MS,
    );
    const frames = new Frames(entry, snapshot, this.#sealer);
    this.#latest = frames;
    frames.sign(due);
    for (const channel of due) {
      channel.sentMs = nowMs;
      channel.fanout.send(frames.of(channel), channel.format === 'msgpack');
    }
  }
}
