import { randomBytes } from 'node:crypto';
import bs58 from 'bs58';
import { Pool } from 'undici';
import type { Commitment } from '../../../src/domain/commitment.ts';
import { Tally } from './tally.ts';
import type { Witness } from './witness.ts';

export interface LoadOptions {
  readonly url: string;
  /** Requests a second. */
  readonly rate: number;
  /** Accounts that are asked for again and again. */
  readonly hot: number;
  /** Of so many requests one is for an account that nobody has asked for before; 0: none is. */
  readonly cold: number;
  /** At which commitments. */
  readonly commitments: readonly Commitment[];
}

/** An answer as a row may look at it. */
export interface Seen {
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
const MAX_WAITING = 500;

export const newAddress = (): string => bs58.encode(randomBytes(32));

/** Asks a gateway so many times a second, and has a witness judge each answer. */
export class Load {
  /** Called with each answer. */
  onSeen: (seen: Seen) => void = () => {};
  readonly hot: readonly string[];
  readonly #options: LoadOptions;
  readonly #witness: Witness;
  readonly #pool: Pool;
  readonly #timer: NodeJS.Timeout;
  readonly #paths: readonly string[];
  #tally = new Tally();
  #waiting = 0;
  #turn = 0;
  #due = 0;
  #lastMs = performance.now();

  constructor(options: LoadOptions, witness: Witness) {
    this.#options = options;
    this.#witness = witness;
    this.#pool = new Pool(options.url, { connections: 128 });
    this.hot = Array.from({ length: options.hot }, newAddress);
    this.#paths = [
      ...WARM,
      ...this.hot.flatMap((address) =>
        options.commitments.map((commitment) => `/balance/${address}?commitment=${commitment}`),
      ),
    ];
    this.#timer = setInterval(() => this.#work(), 5);
  }

  /** What came of it since this was last called. */
  take(): Tally {
    const tally = this.#tally;
    this.#tally = new Tally();
    return tally;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#pool.destroy();
  }

  /** Asks once, and checks the answer as all others. */
  async read(path: string): Promise<Seen> {
    const beganMs = performance.now();
    const floor = this.#witness.newest(path);
    const tally = this.#tally;
    tally.asked++;
    this.#waiting++;
    try {
      const { statusCode, headers, body } = await this.#pool.request({ method: 'GET', path: `/api/v1${path}` });
      const text = await body.text();
      const atMs = performance.now();
      tally.took(atMs - beganMs);
      const slot = this.#witness.judge({ path, floor, status: statusCode, text }, tally);
      const seen: Seen = {
        path,
        status: statusCode,
        source: `${headers['x-cache']}`,
        slot,
        retryAfter: headers['retry-after'] === undefined ? undefined : `${headers['retry-after']}`,
        atMs,
      };
      this.onSeen(seen);
      return seen;
    } catch (thrown) {
      tally.fail(String(thrown));
      return { path, status: 0, source: '', slot: undefined, retryAfter: undefined, atMs: performance.now() };
    } finally {
      this.#waiting--;
    }
  }

  #work(): void {
    const now = performance.now();
    this.#due += ((now - this.#lastMs) * this.#options.rate) / 1000;
    this.#lastMs = now;
    for (; this.#due >= 1; this.#due--) {
      if (this.#waiting > MAX_WAITING) this.#tally.skipped++;
      else void this.read(this.#next());
    }
  }

  #next(): string {
    const turn = this.#turn++;
    if (turn % this.#options.cold === 0) return `/balance/${newAddress()}`;
    return this.#paths[turn % this.#paths.length] ?? '/slot';
  }
}
