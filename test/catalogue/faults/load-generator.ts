import { randomBytes } from 'node:crypto';
import bs58 from 'bs58';
import { Pool } from 'undici';
import type { Commitment } from '../../../src/domain/commitment.ts';
import type { AnswerChecker } from './answer-checker.ts';
import { Tally } from './tally.ts';

export interface LoadOptions {
  readonly url: string;
  /** Requests per second. */
  readonly requestsPerSecond: number;
  /** Number of accounts that are requested repeatedly. */
  readonly hotAccounts: number;
  /** One in this many requests is for a new account; 0: none. */
  readonly coldEvery: number;
  /** Commitments of the requests. */
  readonly commitments: readonly Commitment[];
}

/** An answer as rows see it. */
export interface ObservedAnswer {
  readonly path: string;
  readonly status: number;
  readonly source: string;
  readonly slot: number | undefined;
  readonly retryAfter: string | undefined;
  /** Time of arrival, in milliseconds of `performance.now()`. */
  readonly atMs: number;
}

const WARM = ['/slot', '/epoch', '/performance', '/priority-fee'];
/** Bound on requests in flight: more would measure the queue, not the gateway. */
const MAX_IN_FLIGHT = 500;
/** Hot accounts that are requested in one answer, too. */
const MAX_BATCH = 10;

export const randomAddress = (): string => bs58.encode(randomBytes(32));

/** Sends requests at a constant rate and checks each answer. */
export class LoadGenerator {
  /** Called with each answer. */
  onAnswer: (seen: ObservedAnswer) => void = () => {};
  readonly hotAccounts: readonly string[];
  readonly #options: LoadOptions;
  readonly #checker: AnswerChecker;
  readonly #pool: Pool;
  readonly #timer: NodeJS.Timeout;
  readonly #paths: readonly string[];
  #tally = new Tally();
  #inFlight = 0;
  #sent = 0;
  #due = 0;
  #lastMs = performance.now();

  constructor(options: LoadOptions, checker: AnswerChecker) {
    this.#options = options;
    this.#checker = checker;
    this.#pool = new Pool(options.url, { connections: 128 });
    this.hotAccounts = Array.from({ length: options.hotAccounts }, randomAddress);
    this.#paths = [
      ...WARM,
      ...this.hotAccounts.flatMap((address) =>
        options.commitments.map((commitment) => `/balance/${address}?commitment=${commitment}`),
      ),
      ...options.commitments.map(
        (commitment) =>
          `/balances?addresses=${this.hotAccounts.slice(0, MAX_BATCH).join('%2C')}&commitment=${commitment}`,
      ),
    ];
    this.#timer = setInterval(() => this.#sendDue(), 5);
  }

  /** Returns the tally since the last call. */
  takeTally(): Tally {
    const tally = this.#tally;
    this.#tally = new Tally();
    return tally;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#pool.destroy();
  }

  /** Sends one request and checks its answer like all others. */
  async request(path: string): Promise<ObservedAnswer> {
    const beganMs = performance.now();
    const floor = this.#checker.newestSlotOf(path);
    const tally = this.#tally;
    tally.requested++;
    this.#inFlight++;
    try {
      const { statusCode, headers, body } = await this.#pool.request({ method: 'GET', path: `/api/v1${path}` });
      const text = await body.text();
      const atMs = performance.now();
      tally.recordLatency(atMs - beganMs);
      const slot = this.#checker.check({ path, floor, status: statusCode, text }, tally);
      const seen: ObservedAnswer = {
        path,
        status: statusCode,
        source: `${headers['x-cache']}`,
        slot,
        retryAfter: headers['retry-after'] === undefined ? undefined : `${headers['retry-after']}`,
        atMs,
      };
      this.onAnswer(seen);
      return seen;
    } catch (thrown) {
      tally.recordFailure(String(thrown));
      return { path, status: 0, source: '', slot: undefined, retryAfter: undefined, atMs: performance.now() };
    } finally {
      this.#inFlight--;
    }
  }

  #sendDue(): void {
    const now = performance.now();
    this.#due += ((now - this.#lastMs) * this.#options.requestsPerSecond) / 1000;
    this.#lastMs = now;
    for (; this.#due >= 1; this.#due--) {
      if (this.#inFlight > MAX_IN_FLIGHT) this.#tally.skipped++;
      else void this.request(this.#nextPath());
    }
  }

  #nextPath(): string {
    const sent = this.#sent++;
    if (sent % this.#options.coldEvery === 0) return `/balance/${randomAddress()}`;
    return this.#paths[sent % this.#paths.length] ?? '/slot';
  }
}
