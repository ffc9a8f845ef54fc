import type { Line } from '../../upstream/line.ts';
import type { WatchedAccount } from './watched-account.ts';
import type { WatchedLine } from './watched-line.ts';

/** The connections that accounts are watched over: as many as it takes, each opened when the others are full. */
export class Lines {
  readonly #open: () => Promise<Line>;
  readonly #watchOver: (line: Line) => WatchedLine;
  readonly #lines = new Set<WatchedLine>();
  readonly #waiting = new Set<WatchedAccount>();
  #isOpening = false;

  constructor(open: () => Promise<Line>, watchOver: (line: Line) => WatchedLine) {
    this.#open = open;
    this.#watchOver = watchOver;
  }

  get all(): Iterable<WatchedLine> {
    return this.#lines;
  }

  /** Finds a connection for an account, now or as soon as there is one. */
  add(account: WatchedAccount): void {
    for (const line of this.#lines) {
      if (line.room === 0) continue;
      line.add(account);
      return;
    }
    this.#waiting.add(account);
    void this.#openOne();
  }

  remove(account: WatchedAccount): void {
    this.#waiting.delete(account);
    for (const line of this.#lines) line.remove(account);
  }

  /** A connection is lost. Its accounts look for another. */
  lose(line: WatchedLine, accounts: Iterable<WatchedAccount>): void {
    this.#lines.delete(line);
    for (const account of accounts) this.add(account);
  }

  async #openOne(): Promise<void> {
    if (this.#isOpening) return;
    this.#isOpening = true;
    try {
      const line = this.#watchOver(await this.#open());
      this.#lines.add(line);
    } catch {
      return; // only when the mesh is closed
    } finally {
      this.#isOpening = false;
    }
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const account of waiting) this.add(account);
  }
}
