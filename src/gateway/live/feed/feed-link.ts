import { type Agreement, agreedAt } from '../../../shared/domain/agreement.ts';
import type { Clock } from '../../../shared/domain/clock.ts';
import type { Commitment } from '../../../shared/domain/commitment.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { CLOCK_SYSVAR } from '../../../shared/domain/well-known-addresses.ts';
import { exponentialDelayMs } from '../../../shared/runtime/exponential-backoff.ts';
import { ownTurn } from '../../../shared/runtime/own-turn.ts';
import { repeat } from '../../../shared/runtime/repeat.ts';
import { sleep } from '../../../shared/runtime/sleep.ts';
import { type BackoffOptions, backoffMs } from '../../upstream/failsafe/jittered-backoff.ts';
import { receiveUpdate } from '../../upstream/geyser/decode-update.ts';
import { encodeFilter, type FeedMode } from '../../upstream/geyser/encode-request.ts';
import { type AccountValue, accountValue, type FeedUpdate } from '../../upstream/geyser/feed-update.ts';
import {
  answerPing,
  type FeedCall,
  type FeedClient,
  type FeedFailure,
  GRPC_CODE,
} from '../../upstream/geyser/geyser-client.ts';
import { mayBeOfOneAccount } from '../../upstream/reads/account-batcher.ts';
import { readAccountValues } from '../../upstream/reads/account-values.ts';
import { readWrittenAccounts } from '../../upstream/reads/written-accounts.ts';
import type { RpcCaller } from '../../upstream/rpc/rpc-response.ts';
import { FEED_RULES, MAX_LAG_SLOTS } from './feed-rules.ts';
import { FeedStream, type FeedStreamOptions } from './feed-stream.ts';
import type { FeedAccount } from './kept-account.ts';

export interface FeedLinkOptions<A extends FeedAccount>
  extends Omit<FeedStreamOptions<A>, 'port' | 'mode' | 'rules'>,
    BackoffOptions {
  readonly client: FeedClient;
  readonly mode: FeedMode;
  readonly rpc: RpcCaller;
  readonly clock: Clock;
  /** Returns true for a slot that is no jump: a feed's slots are judged like those of its node (I16). */
  acceptsSlot(commitment: Commitment, slot: Slot): boolean;
  tip(commitment: Commitment): Slot | undefined;
  slotTimeMs(): number;
  /** Resolves when accounts may be read; a second's reads are bounded. */
  awaitTurn(): Promise<void>;
  /** The most bytes of the JSON of an account that is kept. */
  readonly maxAccountBytes: number;
  /** Called with an account that is too large to be kept live. */
  onTooLarge(account: A): void;
  /** Called when the stream is refused, or could not be had for so long that its accounts are to be kept elsewhere. */
  onGivenUp(reason: string): void;
}

/** Shortest time between two changes of the filter, in milliseconds. */
const FILTER_MS = 500;
/** Accounts for which that time is longer by a millisecond: each change sends all of them, 46 bytes each. */
const ACCOUNTS_PER_MS = 10;
/** Interval of looking for silence, in milliseconds. */
const WATCH_MS = 1000;
/** An attempt that lasted so long has connected: its end is no failure in a row. In milliseconds. */
const STEADY_MS = 5000;
/** Interval of looking whether a slot that a node has read is applied, in milliseconds. */
const APPLIED_MS = 50;
/** Time until a read that has failed is tried again: the first time, and at most. In milliseconds. */
const [RETRY_MS, MAX_RETRY_MS] = [100, 3200];
/** The longest time until an account that fails alone is read again, in milliseconds. */
const MAX_ALONE_RETRY_MS = 60_000;
/** Accounts that have failed alone of which reads are under way: a node may let each wait for a timeout. */
const MAX_READ_APART = 4;
/** How often a missing block is read until all accounts are read in place of it. */
const BLOCK_TRIES = 3;
/** Slots without a new block, and far behind the tip, after which accounts are kept elsewhere: what servers replay. */
const GIVE_UP_SLOTS = 150;
/** Codes that another attempt would get again. */
const REFUSALS: ReadonlySet<number> = new Set([
  GRPC_CODE.invalidArgument,
  GRPC_CODE.permissionDenied,
  GRPC_CODE.unauthenticated,
  GRPC_CODE.unimplemented,
]);
const NO_MESSAGE: FeedFailure = {
  code: GRPC_CODE.unavailable,
  reason: 'sends what is no message of a Geyser feed',
};
/** What a node accepts in one getMultipleAccounts. */
const BATCH = 100;
/** Stands for an account that was not decoded; no account is the same. */
const TOO_LARGE: AccountValue = accountValue(0n, '', false, 0n, new Uint8Array());
/** The most bytes of an account's JSON beside its data. */
const ENVELOPE_BYTES = 300;

export interface FeedAudit<A> {
  readonly same: readonly A[];
  /** The operators that gave them; undefined over one operator, or where only one of several did. */
  readonly agreement: Agreement | undefined;
}

/** The connection of one stream: does what its {@link FeedStream} needs done. */
export class FeedLink<A extends FeedAccount> {
  readonly stream: FeedStream<A>;
  readonly #options: FeedLinkOptions<A>;
  #call: FeedCall | undefined;
  #cancelConnect = (): void => {};
  readonly #stopTicking: () => void;
  /** Connections that were lost soon, in a row. */
  #failures = 0;
  #attemptMs = Number.NEGATIVE_INFINITY;
  #lastMessageMs: number;
  /** When the last block came that was no duplicate. */
  #lastBlockMs: number;
  /** When the stream was last near the tip. */
  #lastNearMs: number;
  #lastReason = 'has no connection';
  #isReading = false;
  /** The accounts of the next read: after one that has failed half of them, since one account may fail all. */
  #batchSize = BATCH;
  #failedReads = 0;
  /** Whether the last of them was of an account alone which had not failed so before. */
  #hasFailedAlone = false;
  /** How often accounts have failed that were read alone: they are read apart from others. */
  readonly #failedAlone = new WeakMap<A, number>();
  /** Those of them that are to be read, and how many reads of them are under way. */
  readonly #apart = new Set<A>();
  #readingApart = 0;
  #isClosed = false;
  #reconnects = -1;

  constructor(options: FeedLinkOptions<A>) {
    this.#options = options;
    this.#lastMessageMs = options.clock.monotonic();
    this.#lastBlockMs = this.#lastMessageMs;
    this.#lastNearMs = this.#lastMessageMs;
    this.stream = new FeedStream({
      ...options,
      port: {
        connect: (fromSlot, version) => this.#connect(fromSlot, version),
        sendFilter: (version) => this.#send(version, undefined),
        readAccounts: () => void this.#readAccounts(),
        readBlock: (slot) => void this.#readBlock(slot),
        nextTurn: (work) => void ownTurn().then(work),
      },
    });
    this.stream.start();
    this.#stopTicking = this.#tick();
  }

  get reconnects(): number {
    return Math.max(0, this.#reconnects);
  }

  /**
   * Reads accounts that are armed, and compares them with what was delivered (G11), where there are several operators with
   * what these agree on. Resolves to those that are the same, and to the operators that gave that.
   */
  async audit(accounts: readonly A[], operators = 1): Promise<FeedAudit<A>> {
    const addresses = accounts.map(({ address }) => address);
    const { rpc, tip, maxAccountBytes } = this.#options;
    const minContextSlot = Math.min(this.stream.slot, tip('confirmed') ?? this.stream.slot); // a node refuses what is ahead of all of them
    const options = { minContextSlot, maxBytes: encodedBytes(maxAccountBytes), agree: operators };
    const read = await readAccountValues(rpc, addresses, options);
    const { slot, agreement } = read;
    await this.applied(slot);
    const isDecided = operators === 1 || agreedAt(agreement, slot) > 1;
    const same = accounts.filter((account) => {
      const isTooLarge = read.tooLarge.has(account.address);
      if (isTooLarge && (account.history?.ownAt(slot)?.value?.data.length ?? 0) > maxAccountBytes) return false;
      const value = isTooLarge ? TOO_LARGE : (read.values.get(account.address) ?? null);
      return this.stream.audit(account, { slot, value }, isDecided);
    });
    return { same, agreement: isDecided ? agreement : undefined };
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelConnect();
    this.#stopTicking();
    this.#call?.cancel();
    this.stream.end();
  }

  /** Resolves once a slot is applied, or when one that lags as much as it may would have applied it. */
  async applied(slot: Slot): Promise<void> {
    const { clock, slotTimeMs } = this.#options;
    const untilMs = clock.monotonic() + MAX_LAG_SLOTS * slotTimeMs();
    while (this.stream.slot < slot && clock.monotonic() < untilMs && !this.#isClosed) await sleep(clock, APPLIED_MS);
  }

  #connect(fromSlot: Slot | undefined, version: number): void {
    const { client, clock } = this.#options;
    this.#call?.cancel();
    this.#call = undefined;
    this.#cancelConnect();
    const lastedMs = clock.monotonic() - this.#attemptMs;
    this.#failures = lastedMs < STEADY_MS ? this.#failures + 1 : 0;
    const delayMs = this.#failures === 0 ? 0 : backoffMs(this.#failures, this.#options) - lastedMs;
    this.#reconnects++;
    this.#cancelConnect = clock.after(delayMs, () => {
      if (this.#isClosed) return;
      this.#attemptMs = clock.monotonic();
      this.#lastMessageMs = this.#attemptMs;
      const isCurrent = (): boolean => this.#call === call; // it may end while a long message is decoded
      const onEnd = (failure: FeedFailure): void => {
        if (isCurrent()) this.#onEnd(failure);
      };
      const onMessage = (bytes: Uint8Array) => {
        if (!isCurrent()) return undefined;
        this.#lastMessageMs = clock.monotonic();
        return receiveUpdate(
          bytes,
          (update) => isCurrent() && this.#onUpdate(update),
          () => onEnd(NO_MESSAGE),
        );
      };
      const call = client.subscribe({ onMessage, onEnd }, true);
      this.#call = call;
      this.#send(version, fromSlot);
    });
  }

  /** Returns false where there is no connection, and while it has not accepted an earlier filter: each may be megabytes. */
  #send(version: number, fromSlot: Slot | undefined): boolean {
    if (this.#call === undefined || this.#call.isSending) return false;
    const { mode } = this.#options;
    const addresses: string[] = [CLOCK_SYSVAR]; // a filter without any matches all accounts
    for (const { address } of this.stream.accounts) if (address !== CLOCK_SYSVAR) addresses.push(address);
    this.#call.send(encodeFilter({ mode, version, addresses, fromSlot }));
    return true;
  }

  #onUpdate(update: FeedUpdate): void {
    if (update.kind === 'ping' && this.#call !== undefined) answerPing(this.#call);
    if (this.#isJump(update)) {
      this.#options.onGivenUp('reports a slot that is not accepted');
      return;
    }
    const { blocks } = this.stream;
    this.stream.onUpdate(update);
    if (this.stream.blocks > blocks) this.#lastBlockMs = this.#options.clock.monotonic();
  }

  #isJump(update: FeedUpdate): boolean {
    const { acceptsSlot } = this.#options;
    if (update.kind === 'block' || update.kind === 'block-meta') return !acceptsSlot('confirmed', update.slot);
    return update.kind === 'slot' && update.status === 'finalized' && !acceptsSlot('finalized', update.slot);
  }

  #onEnd({ code, reason }: FeedFailure): void {
    this.#lastReason = reason;
    this.#call?.cancel();
    this.#call = undefined;
    if (REFUSALS.has(code)) this.#options.onGivenUp(reason);
    else this.stream.onEnd(code === GRPC_CODE.outOfRange || code === GRPC_CODE.internal);
  }

  /** Changes the filter, and looks for silence, until the returned function is called. */
  #tick(): () => void {
    let [sinceWatchMs, sinceFilterMs] = [0, 0];
    return repeat(this.#options.clock, FILTER_MS, () => {
      sinceFilterMs += FILTER_MS;
      if (sinceFilterMs >= this.stream.filterSize / ACCOUNTS_PER_MS) {
        sinceFilterMs = 0;
        this.stream.sendFilter();
      }
      sinceWatchMs += FILTER_MS;
      if (sinceWatchMs >= WATCH_MS) {
        sinceWatchMs = 0;
        this.#watch();
      }
    });
  }

  #watch(): void {
    const { clock, tip, slotTimeMs, onGivenUp } = this.#options;
    const nowMs = clock.monotonic();
    const lagSlots = (tip('confirmed') ?? 0) - this.stream.slot;
    const finalLagSlots = (tip('finalized') ?? 0) - this.stream.finalizedSlot;
    if (Math.max(lagSlots, finalLagSlots) <= MAX_LAG_SLOTS) this.#lastNearMs = nowMs;
    const giveUpMs = GIVE_UP_SLOTS * slotTimeMs();
    if (nowMs - this.#lastBlockMs > giveUpMs) onGivenUp(this.#lastReason);
    else if (nowMs - this.#lastNearMs > giveUpMs)
      onGivenUp(lagSlots > MAX_LAG_SLOTS ? `is ${lagSlots} slots behind` : 'does not report what is final'); // the ring drops no other version
    else if (this.#call !== undefined) this.#endIfSilent(nowMs, lagSlots);
  }

  #endIfSilent(nowMs: number, lagSlots: number): void {
    const activity = {
      msSinceBlock: nowMs - Math.max(this.#lastBlockMs, this.#attemptMs), // a new connection has its own time
      msSinceMessage: nowMs - this.#lastMessageMs,
      slotTimeMs: this.#options.slotTimeMs(),
      lagSlots,
    };
    const silence = FEED_RULES.silenceOf(activity);
    if (silence !== undefined) this.#onEnd({ code: GRPC_CODE.unavailable, reason: silence });
  }

  async #readAccounts(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    while (!this.#isClosed) {
      const due = this.stream.dequeueReads(this.#batchSize);
      if (due.length === 0) break;
      const batch = due.filter((account) => !this.#failedAlone.has(account));
      for (const account of due) if (this.#failedAlone.has(account)) void this.#readApart(account);
      if (batch.length > 0) await this.#readBatch(batch);
    }
    this.#isReading = false;
  }

  async #readApart(due: A): Promise<void> {
    this.#apart.add(due);
    if (this.#readingApart === MAX_READ_APART) return;
    this.#readingApart++;
    for (const account of this.#apart) {
      this.#apart.delete(account);
      if (!this.#isClosed) await this.#readBatch([account]);
    }
    this.#readingApart--;
  }

  async #readBatch(batch: readonly A[]): Promise<void> {
    await this.#options.awaitTurn();
    const { rpc, maxAccountBytes, onTooLarge } = this.#options;
    const minContextSlot = Math.max(...batch.map((account) => this.stream.sinceOf(account) ?? 0));
    try {
      const addresses = batch.map(({ address }) => address);
      const { slot, values, tooLarge } = await readAccountValues(rpc, addresses, {
        minContextSlot,
        maxBytes: encodedBytes(maxAccountBytes), // a parser may show it in fewer
      });
      this.#failedReads = 0;
      this.#hasFailedAlone = false;
      this.#batchSize = Math.min(BATCH, 2 * this.#batchSize);
      for (const account of batch) {
        this.#failedAlone.delete(account);
        if (tooLarge.has(account.address)) onTooLarge(account);
        else this.stream.onRead(account, { slot, value: values.get(account.address) ?? null });
      }
    } catch (thrown) {
      await this.#onReadFailed(batch, GatewayError.from(thrown));
    }
  }

  async #onReadFailed(batch: readonly A[], error: GatewayError): Promise<void> {
    const { clock, onTooLarge } = this.#options;
    const [account] = batch;
    const isOfAccounts = mayBeOfOneAccount(error);
    if (batch.length > 1 || account === undefined || !isOfAccounts) {
      if (isOfAccounts) this.#batchSize = Math.ceil(batch.length / 2);
      const delayMs = exponentialDelayMs(this.#failedReads++, RETRY_MS, MAX_RETRY_MS);
      await sleep(clock, delayMs); // a node is behind, or busy
      for (const each of batch) this.stream.onRead(each, undefined);
    } else if (error.code === 'result_too_large') onTooLarge(account);
    else {
      const failures = this.#failedAlone.get(account) ?? 0;
      this.#failedAlone.set(account, failures + 1);
      const delayMs = exponentialDelayMs(failures, RETRY_MS, MAX_ALONE_RETRY_MS);
      clock.after(delayMs, () => this.stream.onRead(account, undefined)); // others need not wait for it
      if (failures > 0 || error.code === 'upstream_timeout') return;
      if (this.#hasFailedAlone) await sleep(clock, exponentialDelayMs(this.#failedReads++, RETRY_MS, MAX_RETRY_MS)); // all may fail
      this.#hasFailedAlone = true;
    }
  }

  async #readBlock(slot: Slot): Promise<void> {
    const { rpc, clock, slotTimeMs } = this.#options;
    const read = () => readWrittenAccounts(rpc, slot).catch(() => undefined);
    let block = await read();
    for (let tries = 1; block === undefined && tries < BLOCK_TRIES && !this.#isClosed; tries++) {
      await sleep(clock, slotTimeMs()); // a node is behind, or busy
      block = await read();
    }
    this.stream.onBlockRead(slot, block);
  }
}

/** Returns the most bytes of the JSON of an account, by the bytes of its data, which stands there in base64. */
const encodedBytes = (dataBytes: number): number => ENVELOPE_BYTES + Math.ceil(dataBytes / 3) * 4;
