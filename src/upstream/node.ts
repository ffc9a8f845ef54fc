import type { Commitment } from '../domain/commitment.ts';
import { GatewayError } from '../domain/error.ts';
import { toJson } from '../domain/json.ts';
import { Gate } from './gate.ts';
import type { Reading } from './mesh.ts';
import type { NodeOptions, Surroundings } from './options.ts';
import { members, text } from './raw-json.ts';
import { commitmentOf, type Read, report } from './reading.ts';
import { retryAfterSeconds } from './retry-after.ts';
import { faultOf, refusal, slowDown } from './rpc-errors.ts';
import { scrubber } from './scrub.ts';
import { Tips } from './tips.ts';
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

/** One Solana node over HTTP: asks, waits no longer than allowed, and hands out the answer's own bytes. */
export class Node {
  /** The newest slots that this node has shown, here or over its WebSocket. */
  readonly tips: Tips;
  readonly #surroundings: Surroundings;
  readonly #transport: Transport;
  readonly #gate: Gate;
  readonly #scrub: (text: string) => string;
  #requests = 0;
  #lastId = 0;
  #pausedUntil = 0;
  #failing = false;
  #apiVersion: string | undefined;

  constructor(options: NodeOptions, surroundings: Surroundings) {
    const { settings, clock } = surroundings;
    this.tips = new Tips(clock);
    this.#surroundings = surroundings;
    this.#transport = openTransport(options, settings);
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

  /** For how many seconds yet the node wants to be left alone. */
  get pauseSeconds(): number {
    return Math.max(0, Math.ceil((this.#pausedUntil - this.#surroundings.clock.monotonic()) / 1000));
  }

  /** Reads, and finds the slot that the answer holds at. `anchorAt` is the commitment of one that names none. */
  async read(method: Read, params: readonly unknown[], anchorAt: Commitment): Promise<Reading> {
    const anchor = this.tips.newest(anchorAt); // taken before the request is sent
    const reported = report(method, params, await this.ask(method, params), anchor);
    if (reported === undefined) throw new GatewayError('upstream_unavailable', 'no node has shown a slot yet');
    const { reading, shown, apiVersion } = reported;
    const commitment = commitmentOf(params);
    if (shown && commitment !== undefined) this.tips.show(commitment, reading.slot);
    if (apiVersion !== undefined) this.#apiVersion = text(apiVersion);
    return reading;
  }

  /** The bytes of the node's `result`. Rejects as `Mesh.call` does. */
  async ask(method: Read, params: readonly unknown[]): Promise<Buffer> {
    const { clock, settings } = this.#surroundings;
    if (this.pauseSeconds > 0) throw slowDown(this.pauseSeconds);
    const id = ++this.#lastId;
    const json = toJson({ jsonrpc: '2.0', id, method, params });
    const deadline = new AbortController();
    const late = () => deadline.abort(new GatewayError('upstream_timeout', 'no node answered in time'));
    const disarm = clock.after(SLOW.has(method) ? settings.slowTimeoutMs : settings.timeoutMs, late);
    try {
      const answer = await this.#gate.run(deadline.signal, () => {
        this.#requests++;
        const maxBytes = method === 'getProgramAccounts' ? SCAN_BYTES : settings.maxBytes;
        return this.#transport.post(json, deadline.signal, maxBytes);
      });
      const result = this.#resultOf(answer, id);
      this.#failing = false;
      return result;
    } catch (thrown) {
      this.#learn(GatewayError.from(thrown), method);
      throw thrown;
    } finally {
      disarm();
    }
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  #resultOf({ status, retryAfter, body }: HttpAnswer, id: number): Buffer {
    const pause = retryAfterSeconds(retryAfter, this.#surroundings.clock.now());
    if (status === TOO_MANY_REQUESTS) throw slowDown(pause);
    const answer = members(body);
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

  #learn(error: GatewayError, method: Read): void {
    if (error.code === 'overloaded') return; // the node wasn't asked at all
    const fault = faultOf(error);
    if (fault === 'rate-limit') {
      this.#pausedUntil = this.#surroundings.clock.monotonic() + (error.retryAfter ?? 1) * 1000;
    }
    // A long scan that isn't done in time says nothing about the node.
    if (error.code !== 'upstream_timeout' || !SLOW.has(method)) this.#failing = fault === 'transport';
  }
}
