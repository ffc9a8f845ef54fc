import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import type { JoinedQuotaLedger, QuotaLedgers } from '../../access/quota/quota-ledger.ts';
import type { HeldSeats, SeatLedger } from '../../access/quota/seat-ledger.ts';
import type { Figures, WorkerFigures } from '../../admin/worker-figures.ts';
import type { Cache, CacheObserver } from '../../cache/cache.ts';
import type { CacheItem, Entry } from '../../cache/entry.ts';
import type { AccountSubscription } from '../../domain/account-change.ts';
import type { Clock } from '../../domain/clock.ts';
import { COMMITMENTS, type Commitment } from '../../domain/commitment.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { LeaseSource } from '../../domain/lease.ts';
import { RequestCost } from '../../domain/request-cost.ts';
import type { Slot } from '../../domain/slot.ts';
import type { ClaimGuard } from '../../receipts/equivocation-guard.ts';
import type { LiveAccounts, PostAnswer } from '../../routing/route.ts';
import { repeat } from '../../runtime/repeat.ts';
import { sleep } from '../../runtime/sleep.ts';
import { ensureDigest } from '../../serving/entry-digest.ts';
import type { CachedRead } from '../../serving/read-through.ts';
import {
  type AnswerFrame,
  FRAME,
  frameOfItem,
  packAnswer,
  packError,
  packGranted,
  packMark,
  packOver,
  packTip,
  packVitals,
} from '../frames.ts';
import { LOG_BYTES, MAX_PAYLOAD_BYTES } from './log-layout.ts';
import { LogWriter } from './log-writer.ts';
import { packShare, packState, unpackAsk } from './remote-quota-ledger.ts';
import type { PipelineVitals } from './vitals.ts';
import { type Message, Wire } from './wire.ts';

/** What the pipeline process does for workers. */
export interface PipelineService {
  /** Resolves when the first answers are there, or are not waited for any longer. */
  readonly started: Promise<void>;
  readonly cache: Cache;
  readonly guard: ClaimGuard & { advance(finalizedSlot: Slot): void };
  readonly liveAccounts: LiveAccounts;
  /** The shares of limits that workers have. */
  readonly quotaLedgers: QuotaLedgers;
  /** The connections that callers have at workers. */
  readonly seatLedger: SeatLedger;
  /** What workers count. */
  readonly figures: WorkerFigures;
  /** Returns what workers show of this process. */
  vitals(): PipelineVitals;
  /** Reads an answer, for a request with these costs. */
  read(key: string, minSlot: Slot | undefined, isForPush: boolean, cost: RequestCost): Promise<CachedRead>;
  /** Answers a call of a node's method, its body as it came. */
  answerRpc(body: Buffer, minSlot: Slot | undefined, cost: RequestCost): Promise<PostAnswer>;
}

export interface PipelineEndOptions {
  /** The folder of the log and the socket, on tmpfs. */
  readonly folder: string;
  readonly epoch: number;
  /** The workers that live already, and are waited for. */
  readonly workers: readonly number[];
  readonly clock: Clock;
  /** Called with workers that have not come: they have not heard of what others show. */
  readonly onLate: (workers: readonly number[]) => void;
}

/** The longest wait for the workers that live. */
const GATHER_MS = 500;

/** Time between two looks at what dates leases where nothing else happens, and between two reports of the vitals. */
const MARKS_MS = 50;
const VITALS_MS = 500;

/** The most bytes that the log grows by until workers are told, so that it never overtakes one that has nothing to do. */
const MAX_UNTOLD_BYTES = LOG_BYTES / 16;

/** The file name of the socket. */
export const SOCKET_NAME = 'socket';

/** A worker that takes part in the limits of callers. */
interface QuotaMember {
  readonly ledger: JoinedQuotaLedger;
  /** Takes the connections that callers have at it. */
  readonly hold: (seats: readonly HeldSeats[]) => void;
  readonly leave: () => void;
}

/** A mark, and what was last told of it. */
interface ToldMark {
  readonly id: number;
  slot: Slot;
  state: LeaseSource['state'] | undefined;
  validatedMs: number;
}

/**
 * The pipeline process as its workers see it: it logs what its cache shows, and does for them what only it can do. It logs
 * no mark before the ends of leases and the bodies that come of the same turn.
 */
export class PipelineEnd implements CacheObserver {
  readonly #options: PipelineEndOptions;
  readonly #writer: LogWriter;
  readonly #logPath: string;
  readonly #wires = new Map<Wire, number>();
  readonly #marks = new Map<LeaseSource, ToldMark>();
  readonly #server: Server;
  readonly #gathering = new Set<number>();
  #service: PipelineService | undefined;
  readonly #quotaMembers = new Map<Wire, QuotaMember>();
  #nextMember = 1;
  #nextMark = 1;
  #isFlushDue = false;
  /** Whether workers are to look at the log before they are asked for something that is in it. */
  #isNewsDue = false;
  #toldEnd = 0;
  /** The items that the next flush brings. */
  readonly #unflushed = new Set<CacheItem>();
  #areMarksDue = false;
  #toldVitals = '';
  #newestGranted: Slot = 0;
  #stops: (() => void)[] = [];
  readonly #tips = new Map<Commitment, Slot>();
  readonly #allJoined: Promise<void>;
  #resolveJoined = (): void => {};

  constructor(options: PipelineEndOptions) {
    const { folder, epoch, workers } = options;
    this.#options = options;
    this.#logPath = join(folder, `log-${epoch}`);
    this.#writer = new LogWriter({ path: this.#logPath, bytes: LOG_BYTES, epoch });
    for (const worker of workers) this.#gathering.add(worker);
    this.#allJoined = new Promise((resolve) => {
      this.#resolveJoined = resolve;
    });
    this.#server = createServer((socket) => {
      const wire: Wire = new Wire(
        socket,
        (message) => this.#handle(wire, message),
        () => this.#onGone(wire),
      );
      this.#wires.set(wire, -1);
    });
  }

  /** Waits until each worker that lives has told what it has shown, and takes that for its own floors. */
  async open(service: PipelineService): Promise<void> {
    const { folder, clock, onLate } = this.#options;
    this.#service = service;
    service.cache.observeWith(this);
    const path = join(folder, SOCKET_NAME);
    rmSync(path, { force: true });
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject).listen(path, resolve);
    });
    chmodSync(path, 0o600);
    if (this.#gathering.size > 0) await Promise.race([this.#allJoined, sleep(clock, GATHER_MS)]);
    if (this.#gathering.size > 0) onLate([...this.#gathering]);
    this.#gathering.clear();
    this.#stops = [
      repeat(clock, MARKS_MS, () => this.onMarksMoved()),
      repeat(clock, VITALS_MS, () => this.#tellVitals()),
    ];
  }

  onPublished(item: CacheItem): void {
    this.#unflushed.add(item);
    this.#append(item.policy === 'live' ? FRAME.live : FRAME.answer, this.#packItem(item, true));
  }

  onLeaseEnded(key: string): void {
    this.#append(FRAME.over, packOver(key));
  }

  /** Tells a newer tip. */
  onTip(commitment: Commitment, slot: Slot): void {
    this.#tips.set(commitment, slot);
    this.#append(FRAME.tip, packTip({ commitment, slot }));
    this.onMarksMoved();
  }

  /** Has the marks told that have moved: behind what else this turn and its signatures bring. */
  onMarksMoved(): void {
    if (this.#areMarksDue) return;
    this.#areMarksDue = true;
    setImmediate(() =>
      setImmediate(() => {
        this.#areMarksDue = false;
        for (const [source, told] of this.#marks) this.#tellMark(source, told);
      }),
    );
  }

  /** Has workers read their receipt keys again. */
  reloadReceiptKeys(): void {
    this.#append(FRAME.receiptKeys, Buffer.alloc(0));
  }

  close(): void {
    for (const stop of this.#stops) stop();
    this.#server.close();
    for (const wire of this.#wires.keys()) wire.close();
    this.#writer.close();
    rmSync(this.#logPath, { force: true });
  }

  #append(type: number, payload: Buffer): void {
    this.#writer.append(type, payload);
    if (type !== FRAME.answer) this.#isNewsDue = true; // an answer is looked for where it is asked for
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    setImmediate(() => this.#flush());
  }

  #flush(): number {
    this.#isFlushDue = false;
    this.#unflushed.clear();
    const end = this.#writer.flush();
    if (this.#isNewsDue || end - this.#toldEnd > MAX_UNTOLD_BYTES) {
      for (const wire of this.#wires.keys()) wire.send('bell');
      this.#isNewsDue = false;
      this.#toldEnd = end;
    }
    return end;
  }

  #tellVitals(): void {
    if (this.#service === undefined) return;
    const vitals = this.#service.vitals();
    const text = JSON.stringify(vitals);
    if (text === this.#toldVitals) return;
    this.#toldVitals = text;
    this.#append(FRAME.vitals, packVitals(vitals));
  }

  #tellMark(source: LeaseSource, told: ToldMark): void {
    const { slot, state, validatedMs, lagSlots } = source;
    if (slot === told.slot && state === told.state && validatedMs === told.validatedMs) return;
    told.slot = slot;
    told.state = state;
    told.validatedMs = validatedMs;
    const ageMs = this.#options.clock.monotonic() - validatedMs;
    this.#append(FRAME.mark, packMark({ id: told.id, slot, ageMs, state, lagSlots }));
    if (state === 'lost') this.#marks.delete(source);
  }

  /** Returns the number of a mark. A new one is told at once, so that no answer names one that is unknown. */
  #markIdOf(source: LeaseSource): number {
    const known = this.#marks.get(source);
    if (known !== undefined) return known.id;
    const told: ToldMark = { id: this.#nextMark++, slot: -2, state: undefined, validatedMs: 0 };
    this.#marks.set(source, told);
    this.#tellMark(source, told);
    return told.id;
  }

  /** Packs an item for the log, or whole for who asked for it. Of one that is too long for the log, the log tells the slot. */
  #packItem(item: CacheItem, isForLog: boolean): Buffer {
    const { clock } = this.#options;
    const { cache, guard } = this.#open();
    const frame = frameOfItem(
      item,
      { nowMs: clock.monotonic(), coarseNowMs: cache.coarseNowMs },
      { grant: item.kind === 'answer' && this.#grants(item, guard), lease: this.#leaseOf(item) },
    );
    const isLong = isForLog && item.resultBytes > MAX_PAYLOAD_BYTES / 4;
    return packAnswer(isLong ? { ...frame, result: null, body: null } : frame);
  }

  /** Packs the lease of an item, if the cache hears of its end: else nobody would. */
  #leaseOf({ key, lease, kind }: CacheItem): AnswerFrame['lease'] {
    if (lease === undefined || kind !== 'answer') return null;
    const published = this.#open().cache.peek(key);
    if (published?.lease !== lease && published?.successor?.lease !== lease) return null;
    if (lease.state === 'revoked') return null;
    return { marks: lease.sources.map((source) => this.#markIdOf(source)), slot: lease.slot, endSlot: lease.endSlot };
  }

  #grants(entry: Entry, guard: ClaimGuard): boolean {
    const { exact, commitment, envelope } = entry.meta;
    if (!exact || commitment !== 'finalized' || envelope !== 'signed') return false;
    const digest = ensureDigest(entry);
    const { key, slot } = entry;
    if (guard.grantClaim({ request: `GET ${key}`, slot, commitment, claim: 'exact', digest }) !== 'exact') return false;
    if (slot > this.#newestGranted) this.#append(FRAME.granted, packGranted(slot));
    this.#newestGranted = Math.max(this.#newestGranted, slot);
    return true;
  }

  #open(): PipelineService {
    if (this.#service === undefined) throw new Error('the pipeline process is not open yet');
    return this.#service;
  }

  readonly #subscriptions = new Map<Wire, Map<number, AccountSubscription>>();

  #onGone(wire: Wire): void {
    this.#service?.figures.leave(`worker ${this.#wires.get(wire)}`);
    this.#wires.delete(wire);
    this.#quotaMembers.get(wire)?.leave();
    this.#quotaMembers.delete(wire);
    for (const subscription of this.#subscriptions.get(wire)?.values() ?? []) subscription.end();
    this.#subscriptions.delete(wire);
  }

  #handle(wire: Wire, [name, ...fields]: Message): void {
    const service = this.#open();
    if (name === 'hello') this.#join(wire, fields as HelloFields);
    else if (name === 'ask') void this.#answer(wire, fields as AskFields);
    else if (name === 'call') void this.#answerCall(wire, fields as CallFields);
    else if (name === 'seen') for (const key of fields[0] as string[]) service.cache.get(key);
    else if (name === 'follow') this.#follow(wire, fields as [number, string, Commitment, string]);
    else if (name === 'caller') this.#changeCaller(wire, fields as [number, string, boolean]);
    else if (name === 'unfollow') this.#unfollow(wire, fields[0] as number);
    else if (name === 'seats') this.#quotaMembers.get(wire)?.hold(fields[0] as readonly HeldSeats[]);
    else if (name === 'figures') service.figures.take(`worker ${this.#wires.get(wire)}`, fields[0] as Figures);
    else if (name === 'settle') this.#settle(wire, fields as [number, readonly (readonly unknown[])[]]);
  }

  /** Settles what a worker asks of the quota ledger. */
  #settle(wire: Wire, [id, asks]: [number, readonly (readonly unknown[])[]]): void {
    const ledger = this.#quotaMembers.get(wire)?.ledger;
    ledger
      ?.settle(asks.map(unpackAsk))
      .then((shares) => this.#wires.has(wire) && wire.send('settled', id, shares.map(packShare), ledger.members))
      .catch(() => {}); // the worker has all that it may charge without an answer
  }

  /** Has a worker take part in the limits of callers, under a name that no other had before. */
  #joinQuota(wire: Wire, worker: number): void {
    const { quotaLedgers, seatLedger } = this.#open();
    const ledger = quotaLedgers.join(`${worker} ${this.#nextMember++}`, () => wire.send('forgotten'));
    ledger.onLeft((left) => wire.send('left', packState(left)));
    const seats = seatLedger.join((others) => wire.send('seats', others));
    const leave = (): void => {
      ledger.leave();
      seats.leave();
    };
    this.#quotaMembers.set(wire, { ledger, hold: seats.hold, leave });
  }

  #join(wire: Wire, [worker, shown, granted]: HelloFields): void {
    const { cache, guard, vitals, started } = this.#open();
    this.#wires.set(wire, worker);
    cache.raiseFloors(shown);
    if (granted > 0) guard.advance(granted);
    const live = [...cache.liveItems()].map((item) => this.#packItem(item, true));
    const lsn = this.#flush();
    const tips = COMMITMENTS.flatMap((commitment) => {
      const slot = this.#tips.get(commitment);
      return slot === undefined ? [] : [packTip({ commitment, slot })];
    });
    const marks = [...this.#marks].map(([source, { id }]) => {
      const { slot, state, lagSlots, validatedMs } = source;
      return packMark({ id, slot, state, lagSlots, ageMs: this.#options.clock.monotonic() - validatedMs });
    });
    wire.send('join', this.#logPath, lsn, { tips, marks, live, vitals: packVitals(vitals()) });
    this.#joinQuota(wire, worker);
    this.#append(FRAME.granted, packGranted(this.#newestGranted));
    void started.then(() => wire.send('started'));
    this.#gathering.delete(worker);
    if (this.#gathering.size === 0) this.#resolveJoined();
  }

  async #answer(wire: Wire, [id, key, minSlot, isForPush, caller, hasPriority]: AskFields): Promise<void> {
    const cost = new RequestCost(caller, hasPriority);
    try {
      await this.#open().started;
      const { entry, cacheStatus } = await this.#open().read(key, minSlot ?? undefined, isForPush, cost);
      // Others who have the key hear of it, too: it may be dated later than what they were told.
      if (!this.#unflushed.has(entry)) this.onPublished(entry);
      const payload = this.#packItem(entry, false);
      const at = this.#flush();
      wire.send('answered', id, [payload, at], cacheStatus, null, costOf(cost));
    } catch (thrown) {
      this.#flush();
      wire.send('answered', id, null, null, packError(GatewayError.from(thrown)), costOf(cost));
    }
  }

  async #answerCall(wire: Wire, [id, body, minSlot, caller, hasPriority]: CallFields): Promise<void> {
    const cost = new RequestCost(caller, hasPriority);
    try {
      await this.#open().started;
      const answer = await this.#open().answerRpc(Buffer.from(body), minSlot ?? undefined, cost);
      this.#flush();
      wire.send('answered', id, answer, null, null, costOf(cost));
    } catch (thrown) {
      wire.send('answered', id, null, null, packError(GatewayError.from(thrown)), costOf(cost));
    }
  }

  #follow(wire: Wire, [id, address, commitment, caller]: [number, string, Commitment, string]): void {
    const onEnd = (reason: GatewayError): void => wire.send('ended', id, packError(reason));
    const onChange = ({ slot, isReorg }: { slot: Slot; isReorg: boolean }): void => {
      this.#flush();
      wire.send('news', id, slot, isReorg);
    };
    try {
      const subscription = this.#open().liveAccounts.subscribe(address, commitment, { onChange, onEnd }, caller);
      const ofWire = this.#subscriptions.get(wire) ?? new Map<number, AccountSubscription>();
      this.#subscriptions.set(wire, ofWire.set(id, subscription));
    } catch (thrown) {
      onEnd(GatewayError.from(thrown));
    }
  }

  #changeCaller(wire: Wire, [id, caller, isAdded]: [number, string, boolean]): void {
    const subscription = this.#subscriptions.get(wire)?.get(id);
    if (isAdded) subscription?.addCaller(caller);
    else subscription?.removeCaller(caller);
  }

  #unfollow(wire: Wire, id: number): void {
    this.#subscriptions.get(wire)?.get(id)?.end();
    this.#subscriptions.get(wire)?.delete(id);
  }
}

type HelloFields = [worker: number, shown: Partial<Record<Commitment, Slot>>, granted: Slot];
type AskFields = [
  id: number,
  key: string,
  minSlot: Slot | null,
  isForPush: boolean,
  caller: string,
  hasPriority: boolean,
];
type CallFields = [id: number, body: Uint8Array, minSlot: Slot | null, caller: string, hasPriority: boolean];

const costOf = ({ calls, scans, bytes, rows }: RequestCost): readonly number[] => [calls, scans, bytes, rows];
