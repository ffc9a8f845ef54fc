import type { Commitment } from '../../domain/commitment.ts';
import { GatewayError } from '../../domain/error.ts';
import { toJson } from '../../domain/json.ts';
import type { Read } from '../../domain/read-method.ts';
import type { Slot } from '../../domain/slot.ts';
import { Breaker, type Outcome } from '../failsafe/breaker.ts';
import { ByteBudget } from '../failsafe/byte-budget.ts';
import { Gate } from '../failsafe/gate.ts';
import { Latency } from '../failsafe/latency.ts';
import { Paces } from '../failsafe/paces.ts';
import { retryAfterSeconds } from '../failsafe/retry-after.ts';
import { membersInTurns, text } from '../json/raw-json.ts';
import type { NodeOptions, Surroundings } from '../options.ts';
import type { Reading } from './call.ts';
import { commitmentOf, report } from './reading.ts';
import { faultOf, refusal, slowDown } from './rpc-errors.ts';
import { scrubber } from './scrub.ts';
import { Sightings } from './sightings.ts';
import { type HttpAnswer, openTransport, type Transport } from './transport.ts';

/** Reads that scan a whole index or may reach into long-term storage. */
const SLOW: ReadonlySet<Read> = new Set([
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
const SCAN_BYTES = 64 << 20;

const TOO_MANY_REQUESTS = 429;
/** A second request sooner than this costs more than it wins. */
const HEDGE_MIN_MS = 20;
/** As long as nothing is known of how long a node takes. */
const HEDGE_FIRST_MS = 500;
const HEDGE_FIRST_SLOW_MS = 2000;
/** A node that answers nothing for so long is passed over until it does. */
const HUNG_MIN_MS = 250;

/** One Solana node over HTTP: asks, waits no longer than allowed, and hands out the answer's own bytes. */
export class Node {
  /** The latest slots that this node has shown, here or over its WebSocket. */
  readonly seen: Sightings;
  /** Opens when it fails too often. */
  readonly breaker: Breaker;
  readonly #surroundings: Surroundings;
  readonly #transport: Transport;
  readonly #gate: Gate;
  readonly #scrub: (text: string) => string;
  #requests = 0;
  #lastId = 0;
  readonly #paces: Paces;
  readonly #latencies = new Map<Read, Latency>();
  readonly #latency = new Latency();
  /** Quick reads under way, and since when none of them was answered. */
  #waiting = 0;
  #silentFromMs = 0;
  #failing = false;
  #apiVersion: string | undefined;

  /** `onSlot` is called with each slot that it shows. */
  constructor(
    options: NodeOptions,
    surroundings: Surroundings,
    onSlot: (commitment: Commitment, slot: Slot) => void = () => {},
    budget = new ByteBudget(surroundings.settings.inFlightBytes),
  ) {
    const { settings, clock } = surroundings;
    this.seen = new Sightings(clock, onSlot);
    this.breaker = new Breaker(clock);
    this.#paces = new Paces(clock);
    this.#surroundings = surroundings;
    this.#transport = openTransport(options, settings, budget);
    this.#gate = new Gate(settings.connections, settings.queue);
    this.#scrub = scrubber(options);
  }

  /** HTTP requests sent so far. */
  get requests(): number {
    return this.#requests;
  }

  /** The version that the node last named beside an answer. */
  get apiVersion(): string | undefined {
    return this.#apiVersion;
  }

  /** True while the last that was heard of it over HTTP is that it doesn't answer. */
  get failing(): boolean {
    return this.#failing;
  }

  /** For how many seconds yet the node wants to be left alone with a method. */
  pauseSeconds(method: Read): number {
    return Math.ceil(this.#paces.waitMs(method) / 1000);
  }

  /** After how many milliseconds an answer is later than most. */
  hedgeAfterMs(method: Read): number {
    const p95 = this.#latencies.get(method)?.p95;
    return Math.max(HEDGE_MIN_MS, p95 ?? (SLOW.has(method) ? HEDGE_FIRST_SLOW_MS : HEDGE_FIRST_MS));
  }

  /** The mean time of its quick answers. */
  get meanMs(): number {
    return this.#latency.mean ?? 0;
  }

  /** True while reads are under way and none has been answered for longer than it should take. */
  get hung(): boolean {
    if (this.#waiting === 0) return false;
    const silentMs = this.#surroundings.clock.monotonic() - this.#silentFromMs;
    return silentMs > Math.max(HUNG_MIN_MS, 2 * (this.#latency.p95 ?? 0));
  }

  /** How long a read may take altogether. */
  limitMs(method: Read): number {
    const { settings } = this.#surroundings;
    return SLOW.has(method) ? settings.slowTimeoutMs : settings.timeoutMs;
  }

  /**
   * Reads, and finds the slot that the answer holds at. `anchorAt` is the commitment of one that names none, `endMs` the
   * time by which the answer must be there if that is less than the node has anyway.
   */
  async read(method: Read, params: readonly unknown[], anchorAt: Commitment, endMs?: number): Promise<Reading> {
    const commitment = commitmentOf(params);
    const before = commitment === undefined ? undefined : this.seen.latest(commitment);
    const anchor = this.seen.latest(anchorAt); // taken before the request is sent
    const reported = await report(method, params, await this.ask(method, params, endMs), anchor);
    if (reported === undefined) throw new GatewayError('upstream_unavailable', 'no node has shown a slot yet');
    const { reading, shown, apiVersion } = reported;
    if (shown && commitment !== undefined) this.seen.show(commitment, reading.slot, before);
    if (apiVersion !== undefined) this.#apiVersion = text(apiVersion);
    return reading;
  }

  /** The bytes of the node's `result`. Rejects as `Mesh.call` does. */
  async ask(method: Read, params: readonly unknown[], endMs = Number.POSITIVE_INFINITY): Promise<Buffer> {
    const { clock } = this.#surroundings;
    const pause = this.pauseSeconds(method);
    if (pause > 0) throw slowDown(pause);
    const startMs = clock.monotonic();
    const id = ++this.#lastId;
    const json = toJson({ jsonrpc: '2.0', id, method, params });
    const deadline = new AbortController();
    const late = () => deadline.abort(new GatewayError('upstream_timeout', 'no node answered in time'));
    const disarm = clock.after(Math.min(this.limitMs(method), endMs - startMs), late);
    const settle = this.breaker.begin();
    this.#waits(method, 1);
    try {
      const answer = await this.#gate.run(deadline.signal, () => {
        this.#requests++;
        this.#paces.sent(method);
        const maxBytes = method === 'getProgramAccounts' ? SCAN_BYTES : this.#surroundings.settings.maxBytes;
        return this.#transport.post(json, deadline.signal, maxBytes);
      });
      const result = await this.#resultOf(answer, id);
      this.#failing = false;
      settle(method === 'getGenesisHash' ? 'void' : 'answered'); // asked for before each read of a node that fails
      this.#took(method, clock.monotonic() - startMs);
      return result;
    } catch (thrown) {
      settle(this.#learn(GatewayError.from(thrown), method));
      throw thrown;
    } finally {
      disarm();
      this.#waits(method, -1);
    }
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  async #resultOf({ status, retryAfter, body }: HttpAnswer, id: number): Promise<Buffer> {
    const pause = retryAfterSeconds(retryAfter, this.#surroundings.clock.now());
    if (status === TOO_MANY_REQUESTS) throw slowDown(pause);
    const answer = await membersInTurns(body);
    const error = answer.get('error');
    if (error !== undefined && error.toString() !== 'null') throw refusal(error, this.#scrub, pause);
    const result = answer.get('result');
    if (status !== 200 || result === undefined || text(answer.get('jsonrpc')) !== '2.0') {
      throw new GatewayError('upstream_error', 'no valid answer came', { cause: `HTTP status ${status}` });
    }
    if (answer.get('id')?.toString() !== `${id}`) {
      throw new GatewayError('upstream_error', 'the answer to another question came');
    }
    return result;
  }

  /** Draws the consequences of a failure; what it says about the node. */
  #learn(error: GatewayError, method: Read): Outcome {
    if (error.code === 'overloaded') return 'void'; // the node wasn't asked at all
    const fault = faultOf(error);
    if (fault === 'rate-limit') this.#paces.refused(method, (error.retryAfter ?? 1) * 1000);
    // A long scan that isn't done in time says nothing about the node.
    if (error.code === 'upstream_timeout' && SLOW.has(method)) return 'void';
    this.#failing = fault === 'transport';
    return this.#failing ? 'failed' : 'answered';
  }

  #waits(method: Read, change: 1 | -1): void {
    if (SLOW.has(method)) return;
    if (this.#waiting === 0) this.#silentFromMs = this.#surroundings.clock.monotonic();
    this.#waiting += change;
  }

  #took(method: Read, ms: number): void {
    const latency = this.#latencies.get(method) ?? new Latency();
    this.#latencies.set(method, latency);
    latency.record(ms);
    if (SLOW.has(method)) return;
    this.#latency.record(ms);
    this.#silentFromMs = this.#surroundings.clock.monotonic();
  }
}
