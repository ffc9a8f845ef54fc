import type { Clock } from '../domain/clock.ts';
import { reasonOf } from '../domain/reason-of.ts';
import { repeat } from './repeat.ts';

export interface DurableWritesOptions {
  readonly clock: Clock;
  readonly onProblem: (problem: string) => void;
  readonly onRecovery: (message: string) => void;
}

/** Time between two attempts of a write that has failed, in milliseconds. */
const RETRY_MS = 1000;

/** Failures in a row that are a problem: one alone may be another process that holds the lock of a file. */
const FAILURES_TO_REPORT = 2;

interface Failing {
  readonly problem: string;
  readonly times: number;
}

/** The writes to the state folder of a running process. A kind that fails is a problem until a write of it works. */
export class DurableWrites {
  readonly #options: DurableWritesOptions;
  readonly #failing = new Map<string, Failing>();
  /** The writes that are repeated until they work. */
  readonly #pending = new Map<string, () => unknown>();
  #stopRetrying = (): void => {};

  constructor(options: DurableWritesOptions) {
    this.#options = options;
  }

  /** What can't be written, for `/health`. */
  problems(): readonly string[] {
    return [...this.#failing.values()].flatMap(({ problem, times }) => (times < FAILURES_TO_REPORT ? [] : problem));
  }

  /** Writes once. Returns whether it worked; if not, the caller writes again within a second. */
  attempt(kind: string, write: () => void): boolean {
    const { onProblem, onRecovery } = this.#options;
    const before = this.#failing.get(kind);
    try {
      write();
    } catch (thrown) {
      const reason = reasonOf(thrown);
      const failure = `${kind} can't be written, and is kept in memory until it can`;
      if (before === undefined) onProblem(`${failure}: ${reason}`);
      const problem = `${failure}: ${codeOf(thrown)}`;
      this.#failing.set(kind, { problem, times: (before?.times ?? 0) + 1 });
      return false;
    }
    this.#failing.delete(kind);
    if (before !== undefined) onRecovery(`${kind} can be written again, and nothing of it is lost`);
    return true;
  }

  /**
   * Writes, each second again until it works or a later write of its kind replaces it. A write that returns true has more
   * to write, which it does in the next turn of the event loop.
   */
  keep(kind: string, write: () => unknown): void {
    const isRetrying = this.#pending.size > 0;
    this.#pending.set(kind, write);
    this.#tryPending(kind, write);
    if (isRetrying || this.#pending.size === 0) return;
    this.#stopRetrying(); // of what was written between two of its tries
    this.#stopRetrying = repeat(this.#options.clock, RETRY_MS, () => this.#retry());
  }

  close(): void {
    this.#stopRetrying();
    this.#pending.clear();
  }

  #retry(): void {
    for (const [kind, write] of this.#pending) this.#tryPending(kind, write);
    if (this.#pending.size === 0) this.#stopRetrying();
  }

  #tryPending(kind: string, write: () => unknown): void {
    let hasMore: unknown = false;
    const work = (): void => {
      hasMore = write();
    };
    if (!this.attempt(kind, work)) return;
    if (hasMore === true) setImmediate(() => this.#pending.get(kind) === write && this.#tryPending(kind, write));
    else this.#pending.delete(kind);
  }
}

/** Returns what anybody may read of an error: its message names paths and processes of this machine. */
const codeOf = (thrown: unknown): string =>
  thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'the log says why';
