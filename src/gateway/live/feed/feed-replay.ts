import type { Clock } from '../../../shared/domain/clock.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { CLOCK_SYSVAR } from '../../../shared/domain/well-known-addresses.ts';
import { receiveUpdate } from '../../upstream/geyser/decode-update.ts';
import { encodeFilter, type FeedMode } from '../../upstream/geyser/encode-request.ts';
import type { BlockLink, FeedUpdate } from '../../upstream/geyser/feed-update.ts';
import { answerPing, type FeedClient, GRPC_CODE } from '../../upstream/geyser/geyser-client.ts';
import { BlockAssembly } from './block-assembly.ts';
import { FEED_RULES } from './feed-rules.ts';
import type { FeedVersion } from './kept-account.ts';

export interface FeedReplayOptions {
  readonly client: Pick<FeedClient, 'subscribe' | 'firstReplayed'>;
  readonly mode: FeedMode;
  readonly clock: Clock;
  /** The most bytes of what is sent again. */
  readonly maxBytes: number;
}

export interface ReplayQuery {
  readonly addresses: readonly string[];
  /** The blocks behind this one are needed: a feed may have only later ones. */
  readonly since: Slot;
  /** Up to which block they are needed. */
  readonly until: Slot;
}

export interface Replay {
  /** All blocks behind this one, up to {@link until}, are in it. */
  readonly from: Slot;
  readonly until: Slot;
  /** What these blocks have written, oldest first, by address. */
  readonly versions: ReadonlyMap<string, readonly FeedVersion[]>;
}

/** The longest time from one block to the next, and for all of them: readers of a few accounts wait for those of many. In milliseconds. */
const [BLOCK_TIMEOUT_MS, TIMEOUT_MS] = [10_000, 60_000];
/** By these the oldest slot may have moved on when the request is there. */
const MOVED_SLOTS = 4;
/** The slots before those that are needed in which the state before the first change is looked for: a minute of them. */
const LOOK_BACK_SLOTS = 150;
/** Codes with which a feed says that it can't send the blocks; after any other it may still have them. */
const WITHOUT_BLOCKS: ReadonlySet<number> = new Set([
  GRPC_CODE.outOfRange,
  GRPC_CODE.internal,
  GRPC_CODE.invalidArgument,
  GRPC_CODE.unimplemented,
]);

/**
 * Reads what accounts were before this process knew them, and a minute before, as far as the feed reaches: undefined where it sends
 * no whole row.
 * Rejects where it does not answer, and with `result_too_large`.
 */
export async function readReplay(options: FeedReplayOptions, query: ReplayQuery): Promise<Replay | undefined> {
  const { client, mode, clock, maxBytes } = options;
  const oldest = await client.firstReplayed();
  if (oldest === undefined) return undefined;
  const first = oldest + MOVED_SLOTS;
  const since = query.since < oldest ? first : query.since;
  if (since >= query.until) return undefined;
  const row = new ReplayedRow(mode, { ...query, since }, maxBytes);
  return new Promise((resolve, reject) => {
    const finish = (replay: Replay | undefined): void => {
      cancel();
      call.cancel();
      resolve(replay);
    };
    const fail = (reason: GatewayError): void => {
      reject(reason);
      finish(undefined);
    };
    const endMs = clock.monotonic() + TIMEOUT_MS;
    const awaitBlock = () =>
      clock.after(Math.min(BLOCK_TIMEOUT_MS, endMs - clock.monotonic()), () =>
        fail(new GatewayError('upstream_timeout', 'the feed does not send past blocks')),
      );
    let cancel = awaitBlock();
    const onUpdate = (update: FeedUpdate, bytes: number): void => {
      if (update.kind === 'ping') answerPing(call);
      const state = row.add(update, bytes);
      if (state === 'whole') finish(row.replay);
      else if (state === 'too-large') fail(new GatewayError('result_too_large', 'the feed sends too much again'));
      else if (state === 'broken') fail(new GatewayError('upstream_error', 'the feed sends blocks of a fork again'));
      else if (state === 'longer') {
        cancel();
        cancel = awaitBlock();
      }
    };
    const call = client.subscribe({
      onMessage: (bytes) =>
        receiveUpdate(
          bytes,
          (update) => onUpdate(update, bytes.length),
          () => finish(undefined),
        ),
      onEnd: ({ code, reason }) => {
        if (WITHOUT_BLOCKS.has(code)) finish(undefined);
        else fail(new GatewayError('upstream_error', `the feed ${reason}`));
      },
    });
    const addresses = [...new Set([CLOCK_SYSVAR, ...query.addresses])];
    call.send(
      encodeFilter({
        mode,
        version: 1,
        addresses,
        fromSlot: Math.min(since, Math.max(first, since - LOOK_BACK_SLOTS)),
      }),
    );
  });
}

class ReplayedRow {
  readonly #query: ReplayQuery;
  readonly #maxBytes: number;
  readonly #assembly: BlockAssembly;
  readonly #versions: ReadonlyMap<string, FeedVersion[]>;
  #from: Slot = -1;
  #last: BlockLink | undefined;
  #bytes = 0;

  constructor(mode: FeedMode, query: ReplayQuery, maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#query = query;
    this.#assembly = new BlockAssembly(mode, FEED_RULES, maxBytes);
    this.#versions = new Map(query.addresses.map((address) => [address, []]));
  }

  get replay(): Replay {
    return { from: this.#from, until: this.#last?.slot ?? -1, versions: this.#versions };
  }

  /** Adds a message of the feed. Live ones may come between those that are sent again, which have all of them once more. */
  add(update: FeedUpdate, bytes: number): 'same' | 'longer' | 'whole' | 'broken' | 'too-large' {
    this.#bytes += bytes;
    if (this.#bytes > this.#maxBytes) return 'too-large';
    const block = this.#assembly.add(update);
    if (block === undefined) return 'same';
    const { slot, parentSlot, writes } = block;
    const last = this.#last;
    if (last === undefined) {
      if (parentSlot > this.#query.since) return 'same'; // a live one, before the replay begins
      this.#from = parentSlot;
    } else if (slot <= last.slot) return 'same';
    else if (parentSlot !== last.slot || block.parentBlockhash !== last.blockhash)
      return parentSlot > last.slot ? 'same' : 'broken';
    this.#last = block;
    for (const { address, value } of writes) this.#versions.get(address)?.push({ slot, value });
    return slot >= this.#query.until ? 'whole' : 'longer';
  }
}
