import type { Clock } from '../../domain/clock.ts';
import type { GatewayError } from '../../domain/gateway-error.ts';
import type { RpcMethod } from '../../domain/rpc-methods.ts';
import { RPC_ERROR_CODE } from './rpc-error-code.ts';

/** Time after which an unsupported method is tried again: the node may have got a new version or index. */
const UNSUPPORTED_MS = 600_000;
/** The same for a refusal of one key or one scan: another may succeed. */
const UNSUPPORTED_KEY_MS = 60_000;

/** Time for which a method counts as unsupported after a refusal, by RPC error code. */
const UNSUPPORTED_MS_BY_CODE: ReadonlyMap<number | undefined, number> = new Map([
  [RPC_ERROR_CODE.methodNotFound, UNSUPPORTED_MS],
  [RPC_ERROR_CODE.transactionHistoryNotAvailable, UNSUPPORTED_MS],
  [RPC_ERROR_CODE.longTermStorageUnreachable, UNSUPPORTED_KEY_MS],
  [RPC_ERROR_CODE.keyExcludedFromSecondaryIndex, UNSUPPORTED_KEY_MS],
  [RPC_ERROR_CODE.scanError, UNSUPPORTED_KEY_MS],
]);

/** Knows which methods one node serves: from the configuration, and from its refusals. */
export class MethodSupport {
  readonly #clock: Clock;
  readonly #allowed: ReadonlySet<RpcMethod> | undefined;
  readonly #unsupportedUntilMs = new Map<RpcMethod, number>();

  constructor(clock: Clock, methods: readonly RpcMethod[] | undefined) {
    this.#clock = clock;
    this.#allowed = methods && new Set(methods);
  }

  /** Tells whether the configuration allows the method. */
  isAllowed(method: RpcMethod): boolean {
    return this.#allowed?.has(method) ?? true;
  }

  /** Tells whether the node has recently refused the method as unsupported, so that others come first. */
  isUnsupported(method: RpcMethod): boolean {
    return (this.#unsupportedUntilMs.get(method) ?? Number.NEGATIVE_INFINITY) > this.#clock.monotonic();
  }

  /** Records a failed call. */
  record(method: RpcMethod, { rpcCode }: GatewayError): void {
    const durationMs = UNSUPPORTED_MS_BY_CODE.get(rpcCode);
    if (durationMs !== undefined) this.#unsupportedUntilMs.set(method, this.#clock.monotonic() + durationMs);
  }
}
