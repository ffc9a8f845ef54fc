import { GatewayError } from '../domain/gateway-error.ts';

/** The most that a queue holds. One flow may have {@link FLOW_SHARE} of each. */
export interface FairQueueBounds {
  readonly items: number;
  readonly bytes?: number;
  /** What its items do, for the error of one that has no room: `wait for …`. */
  readonly waiting: string;
}

/** The part of a queue that one flow may have. */
const FLOW_SHARE = 1 / 4;

/** The items of one flow, each with its bytes. A Map keeps its order and deletes from the middle. */
interface Flow<T> {
  readonly items: Map<T, number>;
  bytes: number;
}

/** Queue that is fair to flows: each has its turn, however many items the others have (fair queuing, RFC 970). */
export class FairQueue<T> {
  readonly #bounds: FairQueueBounds | undefined;
  /** Items by flow; the flow whose turn is next comes first. */
  readonly #flows = new Map<string, Flow<T>>();
  #length = 0;
  #bytes = 0;

  constructor(bounds?: FairQueueBounds) {
    this.#bounds = bounds;
  }

  get length(): number {
    return this.#length;
  }

  add(flow: string, item: T, bytes = 0): void {
    const ofFlow = this.#flows.get(flow) ?? { items: new Map<T, number>(), bytes: 0 };
    if (this.#bounds !== undefined) {
      const { waiting } = this.#bounds;
      if (isBeyond(this.#bounds, FLOW_SHARE, ofFlow.items.size + 1, ofFlow.bytes + bytes))
        throw overloaded(`too many of your requests ${waiting}: send fewer at a time`);
      if (isBeyond(this.#bounds, 1, this.#length + 1, this.#bytes + bytes))
        throw overloaded(`too many requests ${waiting}`);
    }
    ofFlow.items.set(item, bytes);
    ofFlow.bytes += bytes;
    this.#flows.set(flow, ofFlow);
    this.#length++;
    this.#bytes += bytes;
  }

  delete(flow: string, item: T): boolean {
    const ofFlow = this.#flows.get(flow);
    const bytes = ofFlow?.items.get(item);
    if (ofFlow === undefined || bytes === undefined) return false;
    ofFlow.items.delete(item);
    ofFlow.bytes -= bytes;
    if (ofFlow.items.size === 0) this.#flows.delete(flow);
    this.#length--;
    this.#bytes -= bytes;
    return true;
  }

  has(isEligible: (flow: string) => boolean): boolean {
    for (const flow of this.#flows.keys()) if (isEligible(flow)) return true;
    return false;
  }

  dequeue(isEligible: (flow: string) => boolean = () => true): T | undefined {
    for (const [flow, ofFlow] of this.#flows) {
      if (!isEligible(flow)) continue;
      const [oldest] = ofFlow.items.keys();
      if (oldest === undefined) continue;
      this.delete(flow, oldest);
      if (this.#flows.delete(flow)) this.#flows.set(flow, ofFlow); // behind all others
      return oldest;
    }
    return undefined;
  }
}

const isBeyond = (bounds: FairQueueBounds, share: number, items: number, bytes: number): boolean =>
  items > share * bounds.items || bytes > share * (bounds.bytes ?? Number.POSITIVE_INFINITY);

const overloaded = (why: string): GatewayError => new GatewayError('overloaded', `${why}; retry in a moment`);
