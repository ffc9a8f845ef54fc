import type { Clock } from '../../domain/clock.ts';
import type { QuotaAsk, QuotaLedger, QuotaShare } from './quota-ledger.ts';
import { type SharedQuotaBook, SharedWindows } from './shared-quota-book.ts';

export interface SharedQuotaOptions {
  readonly ledger: QuotaLedger;
  readonly clock: Clock;
  /** Has work done at the end of this turn of the event loop. */
  readonly afterTurn: (work: () => void) => void;
}

/** The most asks of one call: a ledger that serves others, too, does them in one turn. */
const MAX_ASKS = 500;

/** Time until a call that failed is repeated. */
const RETRY_MS = 50;

/**
 * The books of one member of several, which spend shares of limits. It asks the ledger for more at the end of the turns in
 * which that is due, in one call at a time; no request waits for it.
 */
export class SharedQuota {
  readonly #options: SharedQuotaOptions;
  readonly #windows: SharedWindows;
  readonly #stopHearing: () => void;
  #isAsking = false;
  #isScheduled = false;
  #isClosed = false;
  #cancelRetry = (): void => {};

  constructor(options: SharedQuotaOptions) {
    const { ledger, clock } = options;
    this.#options = options;
    this.#windows = new SharedWindows(clock, () => ledger.members, this.#schedule);
    this.#stopHearing = ledger.onLeft((left) => this.#windows.hear(left));
  }

  /** Creates a book of the member; all members have one of that name. */
  createBook(name: string, capacity: number): SharedQuotaBook {
    return this.#windows.createBook(name, capacity);
  }

  /** Tells a ledger that has forgotten everything what was charged in open windows. */
  retell(): void {
    this.#windows.markAll();
  }

  close(): void {
    this.#isClosed = true;
    this.#stopHearing();
    this.#cancelRetry();
  }

  readonly #schedule = (): void => {
    if (this.#isScheduled || this.#isAsking) return;
    this.#isScheduled = true;
    this.#options.afterTurn(() => {
      this.#isScheduled = false;
      void this.#settle();
    });
  };

  async #settle(): Promise<void> {
    if (this.#isAsking || this.#isClosed) return;
    const asks: readonly QuotaAsk[] = this.#windows.takeDue(MAX_ASKS);
    if (asks.length === 0) return;
    this.#isAsking = true;
    const shares = await this.#options.ledger.settle(asks).catch((): readonly QuotaShare[] | undefined => undefined);
    this.#isAsking = false;
    if (this.#isClosed) return;
    if (shares === undefined) {
      this.#windows.markAgain(asks);
      this.#cancelRetry = this.#options.clock.after(RETRY_MS, this.#schedule);
      return;
    }
    this.#windows.apply(asks, shares);
    if (this.#windows.hasDue) this.#schedule();
  }
}
