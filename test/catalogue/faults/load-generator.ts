import { randomBytes } from 'node:crypto';
import bs58 from 'bs58';
import { Pool } from 'undici';
import type { Commitment } from '../../../src/domain/commitment.ts';
import type { AnswerChecker } from './answer-checker.ts';
import { Tally } from './tally.ts';

export interface LoadOptions {
  readonly url: string;
  /** Requests a second. */
  readonly requestsPerSecond: number;
  /** Accounts that are asked for again and again. */
  readonly hotAccounts: number;
  /** Of so many requests one is for an account that nobody has asked for before; 0: none is. */
  readonly coldEvery: number;
  /** At which commitments. */
  readonly commitments: readonly Commitment[];
}

/** An answer as a row may look at it. */
export interface ObservedAnswer {
  readonly path: string;
  readonly status: number;
  readonly source: string;
  readonly slot: number | undefined;
  readonly retryAfter: string | undefined;
  /** When it came, in milliseconds of `performance.now()`. */
  readonly atMs: number;
}

const WARM = ['/slot', '/epoch', '/performance', '/priority-fee'];
/** More would only wait for each other, and tell nothing of the gateway. */
const MAX_IN_FLIGHT = 500;

export const randomAddress = (): string => bs58.encode(randomBytes(32));

/** Asks a gateway so many times a second, and has a witness judge each answer. */
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
    ];
    this.#timer = setInterval(() => this.#sendDue(), 5);
  }

  /** What came of it since this was last called. */
  takeTally(): Tally {
    const tally = this.#tally;
    this.#tally = new Tally();
    return tally;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#pool.destroy();
  }

  /** Asks once, and checks the answer as all others. */
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
