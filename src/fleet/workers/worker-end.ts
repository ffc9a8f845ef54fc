import { connect } from 'node:net';
import { join } from 'node:path';
import type { HeldSeats, OtherSeats } from '../../access/quota/seat-ledger.ts';
import type { Figures } from '../../admin/worker-figures.ts';
import type { Cache } from '../../cache/cache.ts';
import type { Entry } from '../../cache/entry.ts';
import type { AccountSubscriber, AccountSubscription } from '../../domain/account-change.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Commitment } from '../../domain/commitment.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { RequestCost } from '../../domain/request-cost.ts';
import type { Slot } from '../../domain/slot.ts';
import type { PostAnswer } from '../../routing/route.ts';
import { repeat } from '../../runtime/repeat.ts';
import type { CachedRead } from '../../serving/read-through.ts';
import { FRAME, type PackedError, type TipFrame, unpackError, unpackVitals } from '../frames.ts';
import { Replica, ReplicaCache } from '../replica.ts';
import { LOG_BYTES } from './log-layout.ts';
import { LogReader } from './log-reader.ts';
import { SOCKET_NAME } from './pipeline-end.ts';
import { RemoteMesh } from './remote-mesh.ts';
import type { RemoteQuotaLedger } from './remote-quota-ledger.ts';
import { TurnWatch } from './turn-watch.ts';
import type { PipelineVitals } from './vitals.ts';
import { type Message, Wire } from './wire.ts';

export interface WorkerEndOptions {
  /** The number of this worker. */
  readonly id: number;
  /** The folder of the log and the socket. */
  readonly folder: string;
  readonly clock: Clock;
  readonly cache: ConstructorParameters<typeof ReplicaCache>[0];
  /** The shares of limits. */
  readonly quotaLedger: RemoteQuotaLedger;
  /** Called with the connections that callers have at other workers. */
  readonly onSeats: (others: readonly OtherSeats[]) => void;
  /** Called when the quota ledger may have forgotten what was charged. */
  readonly onForgottenQuota: () => void;
  /** Called when the quota ledger is another one, which knows nothing of what was charged. */
  readonly onNewLedger: () => void;
  /** The longest wait for an answer of the pipeline process, in milliseconds. */
  readonly waitMs: number;
  /** Called with each answer that the pipeline keeps current. */
  readonly onLiveAnswer: (entry: Entry) => void;
  /** Called when the receipt keys have changed. */
  readonly onReceiptKeys: () => void;
  /** Called when this worker was overtaken by the log: what it has is of no use any more. */
  readonly onOvertaken: () => void;
}

/** Who a request counts for. */
export type Payer = Pick<RequestCost, 'caller' | 'hasPriority'>;

/** What waits for the pipeline process. */
interface Call {
  readonly message: Message;
  readonly cost: RequestCost | undefined;
  readonly resolve: (result: unknown, cacheStatus: CachedRead['cacheStatus']) => void;
  readonly reject: (reason: unknown) => void;
}

interface Followed {
  readonly address: string;
  readonly commitment: Commitment;
  readonly callers: string[];
  readonly subscriber: AccountSubscriber;
}

/** Time between two tries to reach the pipeline process. */
const RETRY_MS = 20;

/** Time between two updates of the cache's coarse clock. */
const TICK_MS = 250;

/** The most calls that wait for the pipeline process. */
const MAX_CALLS = 10_000;

/** The most characters of keys that are told as read, in a slot. */
const MAX_SEEN_LENGTH = 1 << 16;

/** The gateway itself, as a caller. */
const OWN: Payer = { caller: '', hasPriority: false };

/**
 * A worker's end of the way to the pipeline process: a copy of that process' cache, and calls for what only that can do.
 * While the process is gone, its copy serves on by the rules for lost leases, and calls wait for the next one.
 */
export class WorkerEnd {
  readonly cache: Cache;
  readonly replica: Replica;
  readonly mesh = new RemoteMesh();
  readonly #options: WorkerEndOptions;
  readonly #calls = new Map<number, Call>();
  readonly #followed = new Map<number, Followed>();
  readonly #stopTicking: () => void;
  #nextId = 1;
  #wire: Wire | undefined;
  #reader: LogReader | undefined;
  #vitals: PipelineVitals | undefined;
  #hasJoined = false;
  #isClosed = false;
  #cancelRetry = (): void => {};
  #resolveJoined = (): void => {};
  #resolveWarm = (): void => {};
  /** Resolves when the copy is complete for the first time. */
  readonly joined: Promise<void>;
  /** Resolves when the first answers are there besides, or are not waited for any longer: from then on callers may come. */
  readonly warm: Promise<void>;

  constructor(options: WorkerEndOptions) {
    const { clock } = options;
    this.#options = options;
    const watch = new TurnWatch(() => this.#catchUp());
    this.cache = new ReplicaCache(options.cache, watch.check);
    this.replica = new Replica({
      cache: this.cache,
      clock,
      onTip: (tip) => this.#onTip(tip),
      onLiveAnswer: options.onLiveAnswer,
    });
    this.joined = new Promise((resolve) => {
      this.#resolveJoined = resolve;
    });
    this.warm = new Promise((resolve) => {
      this.#resolveWarm = resolve;
    });
    this.#stopTicking = repeat(clock, TICK_MS, () => this.cache.tick());
    this.#connect();
  }

  /** What the pipeline process told of itself; undefined before. */
  get vitals(): PipelineVitals | undefined {
    return this.#vitals;
  }

  /** Has the pipeline process read an answer, and keeps a copy. */
  ask(key: string, minSlot: Slot | undefined, isForPush: boolean, cost?: RequestCost): Promise<CachedRead> {
    const { caller, hasPriority } = cost ?? OWN;
    const awaited = this.replica.await(key);
    return this.#call(['ask', key, minSlot ?? null, isForPush, caller, hasPriority], cost, (result, cacheStatus) => {
      const [payload, at] = result as [payload: Uint8Array, at: number];
      const item = awaited.keep(Buffer.from(payload), at);
      if (item.kind === 'refusal') throw item.refusal;
      if (item.kind === 'slot-mark') throw new GatewayError('stale', 'a newer answer was served meanwhile; retry');
      return { entry: item, cacheStatus };
    }).finally(() => awaited.end());
  }

  /** Has the pipeline process answer a call of a node's method. */
  answerRpc(body: Buffer, minSlot: Slot | undefined, cost: RequestCost): Promise<PostAnswer> {
    const { caller, hasPriority } = cost;
    return this.#call(['call', body, minSlot ?? null, caller, hasPriority], cost, (answer) => {
      const { result, ...others } = answer as PostAnswer;
      return { ...others, result: typeof result === 'string' ? result : Buffer.from(result) };
    });
  }

  /** Subscribes to an account that the pipeline process keeps live. */
  follow(address: string, commitment: Commitment, subscriber: AccountSubscriber, caller: string): AccountSubscription {
    const id = this.#nextId++;
    const followed: Followed = { address, commitment, callers: [caller], subscriber };
    this.#followed.set(id, followed);
    this.#wire?.send('follow', id, address, commitment, caller);
    return {
      addCaller: (other) => {
        followed.callers.push(other);
        this.#wire?.send('caller', id, other, true);
      },
      removeCaller: (other) => {
        followed.callers.splice(followed.callers.indexOf(other), 1);
        this.#wire?.send('caller', id, other, false);
      },
      end: () => {
        if (this.#followed.delete(id)) this.#wire?.send('unfollow', id);
      },
    };
  }

  /** Tells how many connections callers have at this worker. */
  holdSeats(seats: readonly HeldSeats[]): void {
    if (this.#hasJoined) this.#wire?.send('seats', seats);
  }

  /** Tells what this worker counts. */
  tellFigures(figures: Figures): void {
    if (this.#hasJoined) this.#wire?.send('figures', figures);
  }

  close(): void {
    this.#isClosed = true;
    this.#stopTicking();
    this.#cancelRetry();
    this.#wire?.close();
    this.#reader?.close();
    this.#reader = undefined;
  }

  #call<R>(
    [name, ...fields]: Message,
    cost: RequestCost | undefined,
    read: (result: unknown, cacheStatus: CachedRead['cacheStatus']) => R,
  ): Promise<R> {
    if (this.#calls.size >= MAX_CALLS)
      return Promise.reject(
        new GatewayError('overloaded', 'too many requests wait for the cluster; retry in a moment'),
      );
    const id = this.#nextId++;
    const message: Message = [name, id, ...fields];
    return new Promise((resolve, reject) => {
      const cancel = this.#options.clock.after(this.#options.waitMs, () => {
        this.#calls.delete(id);
        reject(new GatewayError('upstream_unavailable', 'the process that reads from the cluster does not answer'));
      });
      this.#calls.set(id, {
        message,
        cost,
        resolve: (result, cacheStatus) => {
          cancel();
          try {
            resolve(read(result, cacheStatus));
          } catch (thrown) {
            reject(thrown);
          }
        },
        reject: (reason) => {
          cancel();
          reject(reason);
        },
      });
      if (this.#hasJoined) this.#wire?.send(...message);
    });
  }

  #connect(): void {
    const socket = connect(join(this.#options.folder, SOCKET_NAME));
    const wire: Wire = new Wire(
      socket,
      (message) => this.#handle(wire, message),
      () => this.#onGone(),
    );
    socket.on('connect', () => {
      this.#wire = wire;
      wire.send('hello', this.#options.id, this.cache.newestSlots(), this.replica.newestGranted);
    });
  }

  #onGone(): void {
    this.#wire = undefined;
    this.#hasJoined = false;
    this.#options.quotaLedger.connect(undefined);
    if (this.#isClosed) return;
    this.#catchUp(); // what it logged before its end
    this.replica.loseMarks();
    this.#reader?.close();
    this.#reader = undefined;
    this.#cancelRetry = this.#options.clock.after(RETRY_MS, () => this.#connect());
  }

  #handle(wire: Wire, [name, ...fields]: Message): void {
    if (name === 'bell') this.#catchUp();
    else if (name === 'join') this.#join(wire, fields as [string, number, Snapshot]);
    else if (name === 'started') this.#resolveWarm();
    else if (name === 'answered') this.#onAnswered(fields as Answered);
    else if (name === 'news') this.#onNews(fields as [number, Slot, boolean]);
    else if (name === 'ended') this.#onEnded(fields as [number, PackedError]);
    else if (name === 'settled') this.#options.quotaLedger.onSettled(fields as [number, readonly unknown[][], number]);
    else if (name === 'forgotten') this.#options.onForgottenQuota();
    else if (name === 'seats') this.#options.onSeats(fields[0] as readonly OtherSeats[]);
    else if (name === 'left') this.#options.quotaLedger.onLeftTold(fields as [unknown[]]);
  }

  #join(wire: Wire, [path, from, { tips, marks, live, vitals }]: [string, number, Snapshot]): void {
    const onFrame = (type: number, payload: Buffer, at: number): void => this.#onFrame(type, payload, at);
    this.#reader = new LogReader({ path, bytes: LOG_BYTES, from, onFrame });
    onFrame(FRAME.vitals, Buffer.from(vitals), from);
    for (const tip of tips) onFrame(FRAME.tip, Buffer.from(tip), from);
    for (const mark of marks) onFrame(FRAME.mark, Buffer.from(mark), from);
    for (const answer of live) onFrame(FRAME.live, Buffer.from(answer), from);
    this.#hasJoined = true;
    this.#options.quotaLedger.connect(wire);
    this.#options.onNewLedger();
    this.#catchUp();
    for (const { message } of this.#calls.values()) wire.send(...message);
    for (const [id, { address, commitment, callers, subscriber }] of this.#followed) {
      const [first = '', ...others] = callers;
      wire.send('follow', id, address, commitment, first);
      for (const other of others) wire.send('caller', id, other, true);
      subscriber.onChange({ slot: 0, isReorg: false }); // what has changed meanwhile was told to nobody
    }
    this.#resolveJoined();
  }

  #onAnswered([id, result, cacheStatus, error, [calls, scans, bytes, rows]]: Answered): void {
    this.#catchUp();
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    if (call === undefined) return;
    if (call.cost !== undefined) Object.assign(call.cost, { calls, scans, bytes, rows });
    if (error === null) call.resolve(result, cacheStatus ?? 'MISS');
    else call.reject(unpackError(error));
  }

  #onNews([id, slot, isReorg]: [number, Slot, boolean]): void {
    this.#catchUp();
    this.#followed.get(id)?.subscriber.onChange({ slot, isReorg });
  }

  #onEnded([id, reason]: [number, PackedError]): void {
    const followed = this.#followed.get(id);
    this.#followed.delete(id);
    followed?.subscriber.onEnd(unpackError(reason));
  }

  #catchUp(): void {
    if (this.#reader?.catchUp() === false) this.#options.onOvertaken();
  }

  #onFrame(type: number, payload: Buffer, at: number): void {
    if (type === FRAME.vitals) {
      this.#vitals = this.#mergedVitals(unpackVitals<PipelineVitals>(payload));
      this.mesh.update(this.#vitals);
    } else if (type === FRAME.receiptKeys) this.#options.onReceiptKeys();
    else this.replica.apply(type, payload, at);
  }

  /** Keeps the start over: while another pipeline process starts, this worker serves on. */
  #mergedVitals(told: PipelineVitals): PipelineVitals {
    const known = this.#vitals;
    if (known === undefined || told.startupProblem === null || known.startupProblem !== null) return told;
    return { ...told, startupProblem: null, genesisHash: told.genesisHash ?? known.genesisHash };
  }

  #onTip({ commitment, slot }: TipFrame): void {
    this.mesh.advance(commitment, slot);
    if (commitment === 'processed') this.#tellSeen();
  }

  /** Tells which keys were read since the last slot: what is read in any worker is kept current for all. */
  #tellSeen(): void {
    const seen: string[] = [];
    let length = 0;
    for (const key of this.cache.takeHotKeys()) {
      length += key.length;
      if (length > MAX_SEEN_LENGTH) break;
      seen.push(key);
    }
    if (seen.length > 0) this.#wire?.send('seen', seen);
  }
}

interface Snapshot {
  readonly tips: readonly Uint8Array[];
  readonly marks: readonly Uint8Array[];
  readonly live: readonly Uint8Array[];
  readonly vitals: Uint8Array;
}

type Answered = [
  id: number,
  result: unknown,
  cacheStatus: CachedRead['cacheStatus'] | null,
  error: PackedError | null,
  cost: [calls: number, scans: number, bytes: number, rows: number],
];
