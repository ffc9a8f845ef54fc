import type { Clock } from '../../domain/clock.ts';
import type { GatewayError } from '../../domain/gateway-error.ts';
import type { RpcMethod } from '../../domain/rpc-methods.ts';
import { RPC_ERROR_CODE } from './rpc-error-code.ts';

/** A node may be given a new index, or a new version: what it could not it may be asked again after so long. */
const UNSUPPORTED_MS = 600_000;
/** Refused for this key or this scan: with another it may go well. */
const UNSUPPORTED_KEY_MS = 60_000;

/** For how long a refusal with the node's number keeps us from asking the node for that method first. */
const UNSUPPORTED_MS_BY_CODE: ReadonlyMap<number | undefined, number> = new Map([
  [RPC_ERROR_CODE.methodNotFound, UNSUPPORTED_MS],
  [RPC_ERROR_CODE.transactionHistoryNotAvailable, UNSUPPORTED_MS],
  [RPC_ERROR_CODE.longTermStorageUnreachable, UNSUPPORTED_KEY_MS],
  [RPC_ERROR_CODE.keyExcludedFromSecondaryIndex, UNSUPPORTED_KEY_MS],
  [RPC_ERROR_CODE.scanError, UNSUPPORTED_KEY_MS],
]);

/** What one node can answer: told by the operator, and learned from what it refuses. */
export class MethodSupport {
  readonly #clock: Clock;
  readonly #allowed: ReadonlySet<RpcMethod> | undefined;
  readonly #unsupportedUntilMs = new Map<RpcMethod, number>();

  constructor(clock: Clock, methods: readonly RpcMethod[] | undefined) {
    this.#clock = clock;
    this.#allowed = methods && new Set(methods);
  }

  /** Whether it may be asked at all. */
  isAllowed(method: RpcMethod): boolean {
    return this.#allowed?.has(method) ?? true;
  }

  /** Whether it has refused the method of late, so that others are asked first. */
  isUnsupported(method: RpcMethod): boolean {
    return (this.#unsupportedUntilMs.get(method) ?? Number.NEGATIVE_INFINITY) > this.#clock.monotonic();
  }

  record(method: RpcMethod, { rpcCode }: GatewayError): void {
    const durationMs = UNSUPPORTED_MS_BY_CODE.get(rpcCode);
    if (durationMs !== undefined) this.#unsupportedUntilMs.set(method, this.#clock.monotonic() + durationMs);
  }
}
