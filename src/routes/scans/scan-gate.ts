import type { Clock } from '../../domain/clock.ts';
import { GatewayError } from '../../domain/gateway-error.ts';

/** The most scans in the process: each holds a response of up to 64 MiB until its table is made. */
const MAX_SCANS = 2;

/** The most scans that wait, of one caller and of all. */
const MAX_WAITING_PER_CALLER = 2;
const MAX_WAITING = 16;

/** The longest wait: as long as a scan may take. */
const MAX_WAIT_MS = 10_000;

/** Seconds after which a rejected caller may find room. */
const RETRY_AFTER_SECONDS = 5;

interface WaitingScan {
  readonly caller: string | undefined;
  start(): void;
}

/** Bounds the scans of programs: one at a time for a caller, {@link MAX_SCANS} in all. Others wait, or are `overloaded`. */
export class ScanGate {
  readonly #clock: Pick<Clock, 'after'>;
  /** The callers of the scans under way; undefined for the gateway itself. */
  readonly #scanning: (string | undefined)[] = [];
  readonly #waiting = new Set<WaitingScan>();

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  /** Runs a scan when it is its turn. Rejects with `overloaded` when too many wait, or after {@link MAX_WAIT_MS}. */
  async run<R>(caller: string | undefined, scan: () => Promise<R>): Promise<R> {
    if (this.#isFree(caller)) this.#scanning.push(caller);
    else await this.#wait(caller);
    try {
      return await scan();
    } finally {
      this.#scanning.splice(this.#scanning.indexOf(caller), 1);
      this.#startNext();
    }
  }

  #isFree(caller: string | undefined): boolean {
    return this.#scanning.length < MAX_SCANS && (caller === undefined || !this.#scanning.includes(caller));
  }

  #wait(caller: string | undefined): Promise<void> {
    const own = [...this.#waiting].filter((other) => other.caller === caller).length;
    if (own >= MAX_WAITING_PER_CALLER || this.#waiting.size >= MAX_WAITING) return Promise.reject(overloaded());
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.after(MAX_WAIT_MS, () => {
        this.#waiting.delete(waiting);
        reject(overloaded());
      });
      const start = (): void => {
        cancel();
        this.#waiting.delete(waiting);
        this.#scanning.push(caller);
        resolve();
      };
      const waiting: WaitingScan = { caller, start };
      this.#waiting.add(waiting);
    });
  }

  /** Starts the scan that has waited longest, of those whose caller has none under way. */
  #startNext(): void {
    for (const waiting of this.#waiting) {
      if (!this.#isFree(waiting.caller)) continue;
      waiting.start();
      return;
    }
  }
}

const overloaded = (): GatewayError =>
  new GatewayError('overloaded', 'too many scans of holders or stake accounts are under way: retry in a few seconds', {
    retryAfter: RETRY_AFTER_SECONDS,
  });
