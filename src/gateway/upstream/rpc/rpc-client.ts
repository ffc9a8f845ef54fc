import type { Commitment } from '../../../shared/domain/commitment.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { RpcMethod } from '../../../shared/domain/rpc-methods.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { toJson } from '../../../shared/domain/to-json.ts';
import type { RequestCost } from '../../../shared/domain/units.ts';
import { afterReading } from '../../../shared/runtime/after-reading.ts';
import { Bulkhead } from '../failsafe/bulkhead.ts';
import { ByteBudget } from '../failsafe/byte-budget.ts';
import { type AttemptOutcome, CircuitBreaker } from '../failsafe/circuit-breaker.ts';
import { LatencyTracker } from '../failsafe/latency-tracker.ts';
import { MethodRateLimits } from '../failsafe/method-rate-limits.ts';
import { rateLimitPauseSeconds } from '../failsafe/rate-limit-pause.ts';
import { runYielding } from '../json/cooperative.ts';
import { parseString, pickNestedYielding, shortText } from '../json/raw-json.ts';
import { StringCheck } from '../json/string-check.ts';
import type { NodeOptions, UpstreamDeps } from '../upstream-options.ts';
import {
  MAX_ERROR_BYTES,
  methodNotFound,
  normalizeRpcError,
  rateLimited,
  requestTooLong,
  rpcFaultOf,
} from './error-normalizer.ts';
import { CONNECTION_CLOSED, failureReason, httpFault } from './failure-reason.ts';
import { type HttpResponse, type HttpTransport, openHttpTransport } from './http-transport.ts';
import { NodeSlots } from './node-slots.ts';
import { redactor } from './redact.ts';
import { commitmentOf, DATING_MEMBERS, type NodeResult, slotOfResponse } from './response-slot.ts';
import { RpcCounts, resultOf } from './rpc-counts.ts';
import type { RpcResponse } from './rpc-response.ts';

/** Methods that scan a whole index, may reach into long-term storage, or return megabytes. */
const SLOW_METHODS: ReadonlySet<RpcMethod> = new Set([
  'getBlock',
  'getBlockProduction',
  'getBlocks',
  'getBlocksWithLimit',
  'getClusterNodes',
  'getInflationReward',
  'getProgramAccounts',
  'getSignaturesForAddress',
  'getSupply',
  'getTokenAccountsByDelegate',
  'getTokenAccountsByOwner',
  'getTokenLargestAccounts',
  'getTransaction',
]);

/** Longest getProgramAccounts response: some 240,000 holders of a mint. */
const MAX_SCAN_BYTES = 64 << 20;

const RESPONSE_MEMBERS = ['error', 'jsonrpc', 'id', 'result'];

const CONTENT_TOO_LARGE = 413;
const TOO_MANY_REQUESTS = 429;
const NOT_IMPLEMENTED = 501;
/** Earliest hedge: a second request sooner than this costs more than it gains. */
const MIN_HEDGE_MS = 20;
/** Hedge delay until a node's response times are known. */
const DEFAULT_HEDGE_MS = 500;
const DEFAULT_SLOW_HEDGE_MS = 2000;
/** Shortest time without any response after which a node counts as hung. */
const MIN_HUNG_MS = 250;

/** Bounds of a request, and the caller that it is made for. */
export interface RequestOptions {
  /** Monotonic milliseconds that shorten the method's time limit. */
  readonly deadlineMs?: number | undefined;
  /** Whether the response is known to be large, so that the request counts as slow. */
  readonly isLarge?: boolean | undefined;
  /** Request of a caller, to whose share it counts, and its bytes. Default: it is work of the gateway itself. */
  readonly cost?: RequestCost | undefined;
  readonly onSent?: (() => void) | undefined;
  /** Calls a listener when the response is no longer needed: a request that waits for a connection is then not sent. */
  readonly onNotNeeded?: ((listener: () => void) => void) | undefined;
}

/** Calls one Solana node over HTTP, within a time limit, and returns the bytes of its result. */
export class RpcClient {
  /** Latest slots that this node reported, here or over its WebSocket. */
  readonly slots: NodeSlots;
  readonly breaker: CircuitBreaker;
  readonly counts: RpcCounts;
  readonly #deps: UpstreamDeps;
  readonly #transport: HttpTransport;
  readonly #bulkhead: Bulkhead;
  readonly #redact: (text: string) => string;
  #lastId = 0;
  readonly #rateLimits: MethodRateLimits;
  readonly #latencyByMethod = new Map<RpcMethod, LatencyTracker>();
  readonly #fastLatency = new LatencyTracker();
  /** Quick calls in flight, and the time since which none of them was answered. */
  #inFlight = 0;
  #unansweredSinceMs = 0;
  #isFailing = false;
  #failure: string | undefined;
  #apiVersion: string | undefined;

  constructor(
    options: NodeOptions,
    deps: UpstreamDeps,
    onSlot: (commitment: Commitment, slot: Slot) => void = () => {},
    budget = new ByteBudget(deps.settings.inFlightBytes),
  ) {
    const { settings, clock } = deps;
    this.slots = new NodeSlots(clock, onSlot);
    this.breaker = new CircuitBreaker(clock);
    this.counts = new RpcCounts(options.id);
    this.#rateLimits = new MethodRateLimits(clock);
    this.#deps = deps;
    this.#transport = openHttpTransport(options, settings, budget);
    this.#bulkhead = new Bulkhead(settings.connections, settings.queue);
    this.#redact = redactor(options);
  }

  /** Version that the node named in its last response with a context. */
  get apiVersion(): string | undefined {
    return this.#apiVersion;
  }

  /** True while the latest call failed in transport. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** Reason, in words, why the latest call got no answer; undefined if it got one. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Returns in how many seconds the node accepts the method again; 0 if now. */
  pauseSeconds(method: RpcMethod): number {
    return Math.ceil(this.#rateLimits.waitMs(method) / 1000);
  }

  /** Returns the milliseconds after which a response is later than 95 of 100. */
  hedgeAfterMs(method: RpcMethod, isLarge = false): number {
    const p95 = isLarge ? undefined : this.#latencyByMethod.get(method)?.p95Ms;
    return Math.max(MIN_HEDGE_MS, p95 ?? (isSlow(method, isLarge) ? DEFAULT_SLOW_HEDGE_MS : DEFAULT_HEDGE_MS));
  }

  /** Mean time of its quick responses. */
  get meanLatencyMs(): number {
    return this.#fastLatency.meanMs ?? 0;
  }

  /** True while quick calls are in flight and none has been answered for longer than expected. */
  get isHung(): boolean {
    if (this.#inFlight === 0) return false;
    const unansweredMs = this.#deps.clock.monotonic() - this.#unansweredSinceMs;
    return unansweredMs > Math.max(MIN_HUNG_MS, 2 * (this.#fastLatency.p95Ms ?? 0));
  }

  timeoutMs(method: RpcMethod, isLarge = false): number {
    const { settings } = this.#deps;
    return isSlow(method, isLarge) ? settings.slowTimeoutMs : settings.timeoutMs;
  }

  /** Calls a method and dates the response. `anchorCommitment` dates one that names no slot. */
  async call(
    method: RpcMethod,
    params: readonly unknown[],
    anchorCommitment: Commitment,
    options?: RequestOptions,
  ): Promise<RpcResponse> {
    const commitment = commitmentOf(method, params);
    const slotBefore = commitment === undefined ? undefined : this.slots.latest(commitment);
    const anchor = this.slots.latest(anchorCommitment); // as of before the request is sent
    const dated = slotOfResponse(method, params, await this.#request(method, params, options), anchor);
    if (dated === undefined) throw new GatewayError('upstream_unavailable', 'no node has reported a slot yet');
    const { response, isOwnSlot, apiVersion } = dated;
    if (isOwnSlot && commitment !== undefined) this.slots.observe(commitment, response.slot, slotBefore);
    if (apiVersion !== undefined) this.#apiVersion = parseString(apiVersion);
    return response;
  }

  /** Returns the bytes of the node's `result`. Rejects as `Mesh.call` does. */
  async request(method: RpcMethod, params: readonly unknown[], options?: RequestOptions): Promise<Buffer> {
    return (await this.#request(method, params, options)).result;
  }

  async #request(method: RpcMethod, params: readonly unknown[], options: RequestOptions = {}): Promise<NodeResult> {
    const { clock } = this.#deps;
    const { deadlineMs = Number.POSITIVE_INFINITY, isLarge = false, cost, onSent, onNotNeeded } = options;
    const pauseSeconds = this.pauseSeconds(method);
    if (pauseSeconds > 0) throw rateLimited(pauseSeconds);
    const id = ++this.#lastId;
    const json = toJson({ jsonrpc: '2.0', id, method, params });
    const slow = isSlow(method, isLarge);
    const turn = { caller: cost?.caller, hasPriority: cost?.hasPriority ?? false, isSlow: slow };
    const deadline = new AbortController();
    const startMs = clock.monotonic();
    const timeoutMs = Math.min(this.timeoutMs(method, isLarge), deadlineMs - startMs);
    if (timeoutMs <= 0) throw timedOut(0); // the check of the node before took all of it
    let sentMs: number | undefined;
    const cancelTimeout = afterReading(clock, timeoutMs, () =>
      deadline.abort(sentMs === undefined ? noConnectionIn(timeoutMs) : timedOut(timeoutMs)),
    );
    onNotNeeded?.(() => {
      if (sentMs === undefined) deadline.abort(notNeeded());
    });
    const endAttempt = this.breaker.startAttempt();
    cost?.beginCall();
    try {
      const responding = this.#bulkhead.run(turn, deadline.signal, () => {
        const nowMs = clock.monotonic();
        if (nowMs - startMs >= timeoutMs) throw noConnectionIn(timeoutMs); // its turn came with the last moment
        sentMs = nowMs;
        this.#rateLimits.recordRequest(method);
        if (!slow) this.#trackInFlight(1);
        onSent?.();
        return this.#transport.post(json, {
          signal: deadline.signal,
          maxBytes: method === 'getProgramAccounts' ? MAX_SCAN_BYTES : this.#deps.settings.maxBytes,
          cost,
        });
      });
      const response = await beforeAbort(responding, deadline.signal);
      if (response.status === CONTENT_TOO_LARGE) throw requestTooLong(Buffer.byteLength(json));
      const result = await this.#resultOf(response, id);
      this.#isFailing = false;
      this.#failure = undefined;
      endAttempt(method === 'getGenesisHash' ? 'ignored' : 'succeeded'); // it precedes each call to a failing node
      if (sentMs !== undefined) {
        const ms = clock.monotonic() - sentMs;
        this.counts.count(method, 'ok', ms);
        if (!isLarge) this.#recordLatency(method, ms);
      }
      return result;
    } catch (thrown) {
      const error = GatewayError.from(thrown);
      if (sentMs !== undefined) this.counts.count(method, resultOf(error), clock.monotonic() - sentMs);
      endAttempt(sentMs === undefined ? 'ignored' : this.#recordFailure(error, method, slow, cost !== undefined));
      throw thrown;
    } finally {
      cancelTimeout();
      cost?.endCall();
      if (sentMs !== undefined && !slow) this.#trackInFlight(-1);
    }
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  async #resultOf({ status, retryAfter, body }: HttpResponse, id: number): Promise<NodeResult> {
    const pauseSeconds = rateLimitPauseSeconds(retryAfter, this.#deps.clock.now());
    if (status === TOO_MANY_REQUESTS) throw rateLimited(pauseSeconds);
    if (status === NOT_IMPLEMENTED) throw methodNotFound();
    try {
      await runYielding(new StringCheck(body));
      const [[error, jsonrpc, idBytes, result], dating] = await pickNestedYielding(body, [
        RESPONSE_MEMBERS,
        DATING_MEMBERS,
      ]);
      if (error !== undefined && error.length > MAX_ERROR_BYTES)
        throw new GatewayError('upstream_error', 'a node sent an error that is too long');
      if (error !== undefined && error.toString() !== 'null')
        throw normalizeRpcError(error, this.#redact, pauseSeconds);
      if (status !== 200 || result === undefined || shortText(jsonrpc) !== '"2.0"')
        throw new GatewayError('upstream_error', 'a node sent no valid response');
      if (shortText(idBytes) !== `${id}`)
        throw new GatewayError('upstream_error', 'the JSON-RPC response id does not match');
      return { result, dating };
    } catch (thrown) {
      const { code, message } = GatewayError.from(thrown);
      throw code === 'upstream_error' ? new GatewayError(code, message, { cause: httpFault(status) }) : thrown;
    }
  }

  /** Learns from a failed call; returns what it says about the node. */
  #recordFailure(error: GatewayError, method: RpcMethod, slow: boolean, isOfCaller: boolean): AttemptOutcome {
    if (error.code === 'overloaded') return 'ignored'; // too many bytes in flight
    const fault = rpcFaultOf(error);
    if (fault === 'rate-limit') this.#rateLimits.recordRejection(method, (error.retryAfter ?? 1) * 1000);
    // A slow call that times out says nothing about the node, nor how a provider refuses a method that is hardly called.
    if ((error.code === 'upstream_timeout' && slow) || method === 'getAgGenesisCert') return 'ignored';
    // A node that refuses a caller's request has answered, and so has a proxy in front of it that gives up a slow one: a caller
    // could turn others away by such calls.
    const isGivenUp = error.code === 'upstream_error' || error.cause === CONNECTION_CLOSED;
    if (fault === 'transport' && isOfCaller && (error.code === 'rpc_error' || (slow && isGivenUp))) return 'ignored';
    this.#failure = fault === 'transport' || fault === 'rate-limit' ? failureReason(error) : undefined;
    this.#isFailing = fault === 'transport';
    return this.#isFailing ? 'failed' : 'succeeded';
  }

  #trackInFlight(change: 1 | -1): void {
    if (this.#inFlight === 0) this.#unansweredSinceMs = this.#deps.clock.monotonic();
    this.#inFlight += change;
  }

  #recordLatency(method: RpcMethod, ms: number): void {
    const latency = this.#latencyByMethod.get(method) ?? new LatencyTracker();
    this.#latencyByMethod.set(method, latency);
    latency.record(ms);
    if (SLOW_METHODS.has(method)) return;
    this.#fastLatency.record(ms);
    this.#unansweredSinceMs = this.#deps.clock.monotonic();
  }
}

/** Rejects when a signal aborts, also while `promise` lasts: a request keeps its place until its connection is open or given up. */
function beforeAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    promise.then(resolve).catch(reject);
  });
}

const isSlow = (method: RpcMethod, isLarge: boolean): boolean => isLarge || SLOW_METHODS.has(method);

const NO_CONNECTION = 'no free connection';

const noConnectionIn = (ms: number): GatewayError =>
  new GatewayError('upstream_timeout', 'too many requests wait for the upstream: no connection was free in time', {
    cause: `${NO_CONNECTION} within ${Math.round(ms)} ms`,
  });

/** The cause of a refusal that another caller would be given too. */
export const NO_ROOM_FOR_ANY = 'no room for any caller';

/** Returns true if a read had no turn at a node, and that of another caller may have one. */
export const hadNoTurn = (thrown: unknown): boolean =>
  thrown instanceof GatewayError &&
  ((thrown.code === 'overloaded' && thrown.cause !== NO_ROOM_FOR_ANY) ||
    (typeof thrown.cause === 'string' && thrown.cause.startsWith(NO_CONNECTION)));

const notNeeded = (): GatewayError => new GatewayError('upstream_unavailable', 'another node has answered');

const timedOut = (ms: number): GatewayError =>
  new GatewayError('upstream_timeout', 'no node answered in time', { cause: `no answer within ${Math.round(ms)} ms` });
