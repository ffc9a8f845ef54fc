import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { GATEWAY_CALLER } from '../../../shared/domain/units.ts';
import { FairQueue } from '../../../shared/runtime/fair-queue.ts';

export interface BulkheadCall {
  /** Caller whose share it counts to; undefined for work of the gateway itself. */
  readonly caller: string | undefined;
  /** Whether it goes ahead of the calls of other tiers. */
  readonly hasPriority: boolean;
  /** Whether it may take seconds or megabytes. */
  readonly isSlow: boolean;
}

interface Partition {
  /** Capacity that no other partition uses. */
  readonly reserved: number;
  readonly maxRunning: number;
  running: number;
}

interface Lane {
  readonly partition: Partition;
  readonly isSlow: boolean;
  readonly queue: FairQueue<() => void>;
}

interface Load {
  running: number;
  runningSlow: number;
  waiting: number;
}

/** Turns in the order of the lanes between two that begin at another lane, at each in rotation: so none waits for ever. */
const TURNS_PER_ROTATION = 4;

/**
 * Partitions the capacity toward a node (the bulkhead pattern), so that no kind of call and no caller uses the room of
 * the others. Reserved are an eighth for quick calls of the gateway itself, a quarter for quick calls of callers and a
 * sixteenth for slow calls of either; the rest is for any call. Slow calls of either have at most a quarter, and
 * one caller a quarter, half of it for slow calls. A queue that callers and the gateway have each a quarter of for
 * themselves is served callers in turn.
 */
export class Bulkhead {
  readonly #capacity: number;
  readonly #maxQueued: number;
  readonly #partitions: readonly Partition[];
  /** Lanes in the order of their turns: of the gateway itself, of callers with priority, of the others; each quick and slow. */
  readonly #lanes: readonly Lane[];
  readonly #loads = new Map<string, Load>();
  readonly #waiting = { own: 0, priority: 0, normal: 0 };
  #running = 0;
  /** Turns since the last rotated one, and the lane whose the next rotated one is. */
  #turns = 0;
  #rotation = 0;

  constructor(maxConcurrent: number, maxQueued: number) {
    this.#capacity = maxConcurrent;
    this.#maxQueued = maxQueued;
    const reservedForOwn = Math.min(maxConcurrent - 1, Math.ceil(maxConcurrent / 8));
    const reservedForQuick = Math.min(maxConcurrent - reservedForOwn - 1, Math.ceil(maxConcurrent / 4));
    const reservedForSlow = Math.floor(maxConcurrent / 16);
    const [own, quick] = [reservedForOwn, reservedForQuick].map(
      (reserved): Partition => ({ reserved, maxRunning: maxConcurrent, running: 0 }),
    ) as [Partition, Partition];
    const [ownSlow, slow] = [1, 2].map(
      (): Partition => ({ reserved: reservedForSlow, maxRunning: atLeastOne(maxConcurrent / 4), running: 0 }),
    ) as [Partition, Partition];
    this.#partitions = [own, ownSlow, quick, slow];
    this.#lanes = [own, ownSlow, quick, slow, quick, slow].map((partition, i) => ({
      partition,
      isSlow: i % 2 === 1,
      queue: new FairQueue(),
    }));
  }

  /** Throws `overloaded` when the queue, or the caller's share of it, is full, or the signal's reason. */
  async run<T>(call: BulkheadCall, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (this.#mayStart(call)) this.#start(call);
    else await this.#wait(call, signal);
    try {
      return await work();
    } finally {
      this.#finish(call);
    }
  }

  /** Returns true if a call may start. No other call that may start waits then: each end of a call starts those. */
  #mayStart(call: BulkheadCall): boolean {
    return this.#hasRoom(this.#laneOf(call).partition) && this.#isBelowShare(call.caller, call.isSlow);
  }

  /** Returns true if a partition may accept more: what the others have reserved stays free. */
  #hasRoom(partition: Partition): boolean {
    let free = this.#capacity - this.#running;
    for (const other of this.#partitions) if (other !== partition) free -= Math.max(0, other.reserved - other.running);
    return free > 0 && partition.running < partition.maxRunning;
  }

  #isBelowShare(caller: string | undefined, isSlow: boolean): boolean {
    const load = caller === undefined ? undefined : this.#loads.get(caller);
    if (load === undefined) return true;
    if (isSlow && load.runningSlow >= atLeastOne(this.#capacity / 8)) return false;
    return load.running < atLeastOne(this.#capacity / 4);
  }

  #start(call: BulkheadCall): void {
    this.#running++;
    this.#laneOf(call).partition.running++;
    this.#count(call, { running: 1 });
  }

  #finish(call: BulkheadCall): void {
    this.#running--;
    this.#laneOf(call).partition.running--;
    this.#count(call, { running: -1 });
    let next: (() => void) | undefined;
    do {
      next = this.#dequeue();
      next?.();
    } while (next !== undefined);
  }

  /** Removes the next call that may start: of the first lane that has one, and now and then of the lane that is owed a turn. */
  #dequeue(): (() => void) | undefined {
    const isRotated = this.#turns >= TURNS_PER_ROTATION;
    const first = isRotated ? this.#rotation : 0;
    for (let i = 0; i < this.#lanes.length; i++) {
      const lane = this.#lanes[(first + i) % this.#lanes.length];
      const start = lane && this.#hasRoom(lane.partition) ? lane.queue.dequeue(this.#isEligible(lane)) : undefined;
      if (start === undefined) continue;
      if (!isRotated) this.#turns++;
      else if (i === 0 || !this.#isOwedRoom(first)) {
        this.#turns = 0;
        this.#rotation = (first + 1) % this.#lanes.length;
      }
      return start;
    }
    return undefined;
  }

  /** Returns true if a lane only waits for room that others have reserved: then its turn is not over. */
  #isOwedRoom(index: number): boolean {
    const lane = this.#lanes[index];
    if (lane === undefined || lane.partition.running >= lane.partition.maxRunning) return false;
    return lane.queue.has(this.#isEligible(lane));
  }

  #isEligible({ isSlow }: Lane): (flow: string) => boolean {
    return (flow) => this.#isBelowShare(flow, isSlow);
  }

  /** Waits for a turn; resolves when the call has started. */
  #wait(call: BulkheadCall, signal: AbortSignal): Promise<void> {
    this.#checkQueue(call);
    const { queue } = this.#laneOf(call);
    const flow = call.caller ?? GATEWAY_CALLER;
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        signal.removeEventListener('abort', abort);
        this.#count(call, { waiting: -1 });
      };
      const start = (): void => {
        this.#start(call);
        leave();
        resolve();
      };
      const abort = (): void => {
        queue.delete(flow, start);
        leave();
        reject(signal.reason);
      };
      queue.add(flow, start);
      this.#count(call, { waiting: 1 });
      signal.addEventListener('abort', abort);
    });
  }

  /** Throws `overloaded` if one more call may not wait: each side, and priority, keeps a quarter of the queue. */
  #checkQueue({ caller, hasPriority }: BulkheadCall): void {
    const { own, priority, normal } = this.#waiting;
    const quarter = this.#maxQueued / 4;
    if (caller !== undefined && (this.#loads.get(caller)?.waiting ?? 0) >= atLeastOne(quarter))
      throw overloaded('too many of your reads wait for the upstream: send fewer at a time');
    const isFull =
      own + priority + normal >= this.#maxQueued ||
      (caller === undefined ? own : priority + normal) >= Math.ceil(3 * quarter) ||
      (caller !== undefined && !hasPriority && normal >= Math.ceil(2 * quarter));
    if (isFull) throw overloaded('too many requests wait for the upstream');
  }

  #count(call: BulkheadCall, { running = 0, waiting = 0 }: { running?: number; waiting?: number }): void {
    const { caller, hasPriority, isSlow } = call;
    if (caller === undefined) {
      this.#waiting.own += waiting;
      return;
    }
    this.#waiting[hasPriority ? 'priority' : 'normal'] += waiting;
    const load = this.#loads.get(caller) ?? { running: 0, runningSlow: 0, waiting: 0 };
    load.running += running;
    load.waiting += waiting;
    if (isSlow) load.runningSlow += running;
    if (load.running > 0 || load.waiting > 0) this.#loads.set(caller, load);
    else this.#loads.delete(caller);
  }

  #laneOf({ caller, hasPriority, isSlow }: BulkheadCall): Lane {
    const first = caller === undefined ? 0 : hasPriority ? 2 : 4;
    return this.#lanes[first + Number(isSlow)] as Lane; // there are six
  }
}

const atLeastOne = (part: number): number => Math.max(1, Math.floor(part));

const overloaded = (why: string): GatewayError => new GatewayError('overloaded', `${why}; retry in a moment`);
