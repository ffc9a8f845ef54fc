import type { Clock } from '../../domain/clock.ts';
import type { GatewayError } from '../../domain/error.ts';
import type { Read } from '../../domain/read-method.ts';
import { RPC_CODE } from './rpc-code.ts';

/** A node may be given a new index, or a new version: what it could not it may be asked again after so long. */
const FORGET_MS = 600_000;
/** Refused for this key or this scan: with another it may go well. */
const FORGET_SOON_MS = 60_000;

/** For how long a refusal with the node's number keeps us from asking the node for that method first. */
const UNSKILLED: ReadonlyMap<number | undefined, number> = new Map([
  [RPC_CODE.methodNotFound, FORGET_MS],
  [RPC_CODE.transactionHistoryNotAvailable, FORGET_MS],
  [RPC_CODE.longTermStorageUnreachable, FORGET_SOON_MS],
  [RPC_CODE.keyExcludedFromSecondaryIndex, FORGET_SOON_MS],
  [RPC_CODE.scanError, FORGET_SOON_MS],
]);

/** What one node can answer: told by the operator, and learned from what it refuses. */
export class Skills {
  readonly #clock: Clock;
  readonly #methods: ReadonlySet<Read> | undefined;
  readonly #untilMs = new Map<Read, number>();

  constructor(clock: Clock, methods: readonly Read[] | undefined) {
    this.#clock = clock;
    this.#methods = methods && new Set(methods);
  }

  /** Whether it may be asked at all. */
  may(method: Read): boolean {
    return this.#methods?.has(method) ?? true;
  }

  /** Whether it has refused the method of late, so that others are asked first. */
  lacks(method: Read): boolean {
    return (this.#untilMs.get(method) ?? Number.NEGATIVE_INFINITY) > this.#clock.monotonic();
  }

  learn(method: Read, { rpcCode }: GatewayError): void {
    const ms = UNSKILLED.get(rpcCode);
    if (ms !== undefined) this.#untilMs.set(method, this.#clock.monotonic() + ms);
  }
}
