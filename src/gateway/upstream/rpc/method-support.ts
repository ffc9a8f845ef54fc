import type { Clock } from '../../../shared/domain/clock.ts';
import type { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { RpcMethod } from '../../../shared/domain/rpc-methods.ts';
import { RPC_ERROR_CODE } from './rpc-error-code.ts';
import { AGAVE, PROCESSED_REFUSED, type ServerProfile } from './server-profile.ts';

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

/** Knows which methods one node serves: from the configuration, from its kind of server, and from its refusals. */
export class MethodSupport {
  server: ServerProfile = AGAVE;
  readonly #clock: Clock;
  readonly #allowed: ReadonlySet<RpcMethod> | undefined;
  readonly #unsupportedUntilMs = new Map<RpcMethod | 'processed', number>();

  constructor(clock: Clock, methods: readonly RpcMethod[] | undefined) {
    this.#clock = clock;
    this.#allowed = methods && new Set(methods);
  }

  isAllowed(method: RpcMethod): boolean {
    return this.#allowed?.has(method) ?? true;
  }

  /** Returns true if the node doesn't serve the method, or has recently refused it, so that others come first. */
  isUnsupported(method: RpcMethod): boolean {
    return !(this.server.methods?.has(method) ?? true) || this.#isRefused(method);
  }

  /** Whether the node has recently refused to read at processed, whatever the method. */
  get refusesProcessed(): boolean {
    return this.#isRefused('processed');
  }

  record(method: RpcMethod, { rpcCode, cause }: GatewayError): void {
    const nowMs = this.#clock.monotonic();
    const durationMs = UNSUPPORTED_MS_BY_CODE.get(rpcCode);
    if (durationMs !== undefined) this.#unsupportedUntilMs.set(method, nowMs + durationMs);
    if (cause === PROCESSED_REFUSED) this.#unsupportedUntilMs.set('processed', nowMs + UNSUPPORTED_MS);
  }

  #isRefused(what: RpcMethod | 'processed'): boolean {
    return (this.#unsupportedUntilMs.get(what) ?? Number.NEGATIVE_INFINITY) > this.#clock.monotonic();
  }
}
