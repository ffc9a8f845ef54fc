import type { Commitment } from '../../domain/commitment.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { RpcMethod } from '../../domain/rpc-methods.ts';
import type { Slot } from '../../domain/slot.ts';
import { toJson } from '../../domain/to-json.ts';
import { Bulkhead } from '../failsafe/bulkhead.ts';
import { ByteBudget } from '../failsafe/byte-budget.ts';
import { type AttemptOutcome, CircuitBreaker } from '../failsafe/circuit-breaker.ts';
import { LatencyTracker } from '../failsafe/latency-tracker.ts';
import { MethodRateLimits } from '../failsafe/method-rate-limits.ts';
import { retryAfterSeconds } from '../failsafe/retry-after.ts';
import { membersYielding, parseString } from '../json/raw-json.ts';
import type { NodeOptions, UpstreamDeps } from '../upstream-options.ts';
import { normalizeRpcError, rateLimited, rpcFaultOf } from './error-normalizer.ts';
import { type HttpResponse, type HttpTransport, openHttpTransport } from './http-transport.ts';
import { NodeSlots } from './node-slots.ts';
import { redactor } from './redact.ts';
import { commitmentOf, slotOfResponse } from './response-slot.ts';
import type { RpcResponse } from './rpc-response.ts';

/** Reads that scan a whole index or may reach into long-term storage. */
const SLOW_METHODS: ReadonlySet<RpcMethod> = new Set([
  'getBlock',
  'getBlockProduction',
  'getClusterNodes',
  'getProgramAccounts',
  'getSignaturesForAddress',
  'getTokenAccountsByOwner',
  'getTokenLargestAccounts',
  'getTransaction',
]);

/** A list of all holders of a mint is long: of some 240,000 if each is a few members and 40 bytes. */
const MAX_SCAN_BYTES = 64 << 20;

const TOO_MANY_REQUESTS = 429;
/** A second request sooner than this costs more than it wins. */
const MIN_HEDGE_MS = 20;
/** As long as nothing is known of how long a node takes. */
const DEFAULT_HEDGE_MS = 500;
const DEFAULT_SLOW_HEDGE_MS = 2000;
/** A node that answers nothing for so long is passed over until it does. */
const MIN_HUNG_MS = 250;

/** One Solana node over HTTP: asks, waits no longer than allowed, and hands out the answer's own bytes. */
export class RpcClient {
  /** The latest slots that this node has shown, here or over its WebSocket. */
  readonly slots: NodeSlots;
  /** Opens when it fails too often. */
  readonly breaker: CircuitBreaker;
  readonly #deps: UpstreamDeps;
  readonly #transport: HttpTransport;
  readonly #bulkhead: Bulkhead;
  readonly #redact: (text: string) => string;
  #requestCount = 0;
  #lastId = 0;
  readonly #rateLimits: MethodRateLimits;
  readonly #latencyByMethod = new Map<RpcMethod, LatencyTracker>();
  readonly #fastLatency = new LatencyTracker();
  /** Quick reads under way, and since when none of them was answered. */
  #inFlight = 0;
  #unansweredSinceMs = 0;
  #isFailing = false;
  #apiVersion: string | undefined;

  /** `onSlot` is called with each slot that it shows. */
  constructor(
    options: NodeOptions,
    deps: UpstreamDeps,
    onSlot: (commitment: Commitment, slot: Slot) => void = () => {},
    budget = new ByteBudget(deps.settings.inFlightBytes),
  ) {
    const { settings, clock } = deps;
    this.slots = new NodeSlots(clock, onSlot);
    this.breaker = new CircuitBreaker(clock);
    this.#rateLimits = new MethodRateLimits(clock);
    this.#deps = deps;
    this.#transport = openHttpTransport(options, settings, budget);
    this.#bulkhead = new Bulkhead(settings.connections, settings.queue);
    this.#redact = redactor(options);
  }

  /** HTTP requests sent so far. */
  get requestCount(): number {
    return this.#requestCount;
  }

  /** The version that the node last named beside an answer. */
  get apiVersion(): string | undefined {
    return this.#apiVersion;
  }

  /** True while the last that was heard of it over HTTP is that it doesn't answer. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** For how many seconds yet the node wants to be left alone with a method. */
  pauseSeconds(method: RpcMethod): number {
    return Math.ceil(this.#rateLimits.waitMs(method) / 1000);
  }

  /** After how many milliseconds an answer is later than most. */
  hedgeAfterMs(method: RpcMethod): number {
    const p95 = this.#latencyByMethod.get(method)?.p95Ms;
    return Math.max(MIN_HEDGE_MS, p95 ?? (SLOW_METHODS.has(method) ? DEFAULT_SLOW_HEDGE_MS : DEFAULT_HEDGE_MS));
  }

  /** The mean time of its quick answers. */
  get meanLatencyMs(): number {
    return this.#fastLatency.meanMs ?? 0;
  }

  /** True while reads are under way and none has been answered for longer than it should take. */
  get isHung(): boolean {
    if (this.#inFlight === 0) return false;
    const unansweredMs = this.#deps.clock.monotonic() - this.#unansweredSinceMs;
    return unansweredMs > Math.max(MIN_HUNG_MS, 2 * (this.#fastLatency.p95Ms ?? 0));
  }

  /** How long a read may take altogether. */
  timeoutMs(method: RpcMethod): number {
    const { settings } = this.#deps;
    return SLOW_METHODS.has(method) ? settings.slowTimeoutMs : settings.timeoutMs;
  }

  /**
   * Reads, and finds the slot that the answer holds at. `anchorAt` is the commitment of one that names none, `endMs` the
   * time by which the answer must be there if that is less than the node has anyway.
   */
  async call(
    method: RpcMethod,
    params: readonly unknown[],
    anchorCommitment: Commitment,
    deadlineMs?: number,
  ): Promise<RpcResponse> {
    const commitment = commitmentOf(params);
    const slotBefore = commitment === undefined ? undefined : this.slots.latest(commitment);
    const anchor = this.slots.latest(anchorCommitment); // taken before the request is sent
    const dated = await slotOfResponse(method, params, await this.request(method, params, deadlineMs), anchor);
    if (dated === undefined) throw new GatewayError('upstream_unavailable', 'no node has shown a slot yet');
    const { response, isOwnSlot, apiVersion } = dated;
    if (isOwnSlot && commitment !== undefined) this.slots.observe(commitment, response.slot, slotBefore);
    if (apiVersion !== undefined) this.#apiVersion = parseString(apiVersion);
    return response;
  }

  /** The bytes of the node's `result`. Rejects as `Mesh.call` does. */
  async request(method: RpcMethod, params: readonly unknown[], deadlineMs = Number.POSITIVE_INFINITY): Promise<Buffer> {
    const { clock } = this.#deps;
    const pauseSeconds = this.pauseSeconds(method);
    if (pauseSeconds > 0) throw rateLimited(pauseSeconds);
    const startMs = clock.monotonic();
    const id = ++this.#lastId;
    const json = toJson({ jsonrpc: '2.0', id, method, params });
    const deadline = new AbortController();
    const onTimeout = () => deadline.abort(new GatewayError('upstream_timeout', 'no node answered in time'));
    const cancelTimeout = clock.after(Math.min(this.timeoutMs(method), deadlineMs - startMs), onTimeout);
    const endAttempt = this.breaker.startAttempt();
    this.#trackInFlight(method, 1);
    try {
      const response = await this.#bulkhead.run(deadline.signal, () => {
        this.#requestCount++;
        this.#rateLimits.sent(method);
        const maxBytes = method === 'getProgramAccounts' ? MAX_SCAN_BYTES : this.#deps.settings.maxBytes;
        return this.#transport.post(json, deadline.signal, maxBytes);
      });
      const result = await this.#resultOf(response, id);
      this.#isFailing = false;
      endAttempt(method === 'getGenesisHash' ? 'void' : 'answered'); // asked for before each read of a node that fails
      this.#recordLatency(method, clock.monotonic() - startMs);
      return result;
    } catch (thrown) {
      endAttempt(this.#recordFailure(GatewayError.from(thrown), method));
      throw thrown;
    } finally {
      cancelTimeout();
      this.#trackInFlight(method, -1);
    }
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  async #resultOf({ status, retryAfter, body }: HttpResponse, id: number): Promise<Buffer> {
    const pauseSeconds = retryAfterSeconds(retryAfter, this.#deps.clock.now());
    if (status === TOO_MANY_REQUESTS) throw rateLimited(pauseSeconds);
    const response = await membersYielding(body);
    const error = response.get('error');
    if (error !== undefined && error.toString() !== 'null') throw normalizeRpcError(error, this.#redact, pauseSeconds);
    const result = response.get('result');
    if (status !== 200 || result === undefined || parseString(response.get('jsonrpc')) !== '2.0') {
      throw new GatewayError('upstream_error', 'no valid answer came', { cause: `HTTP status ${status}` });
    }
    if (response.get('id')?.toString() !== `${id}`) {
      throw new GatewayError('upstream_error', 'the answer to another question came');
    }
    return result;
  }

  /** Draws the consequences of a failure; what it says about the node. */
  #recordFailure(error: GatewayError, method: RpcMethod): AttemptOutcome {
    if (error.code === 'overloaded') return 'void'; // the node wasn't asked at all
    const fault = rpcFaultOf(error);
    if (fault === 'rate-limit') this.#rateLimits.refused(method, (error.retryAfter ?? 1) * 1000);
    // A long scan that isn't done in time says nothing about the node.
    if (error.code === 'upstream_timeout' && SLOW_METHODS.has(method)) return 'void';
    this.#isFailing = fault === 'transport';
    return this.#isFailing ? 'failed' : 'answered';
  }

  #trackInFlight(method: RpcMethod, change: 1 | -1): void {
    if (SLOW_METHODS.has(method)) return;
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
