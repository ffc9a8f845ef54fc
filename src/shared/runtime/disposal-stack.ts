/** Closed in reverse order, also if a later one fails to open (after ECMAScript's AsyncDisposableStack). */
export class DisposalStack {
  readonly #disposers: (() => unknown)[] = [];
  #disposal: Promise<void> | undefined;
  #isDisposed = false;

  get disposed(): boolean {
    return this.#isDisposed;
  }

  defer(dispose: () => void | Promise<void>): void {
    this.#disposers.push(dispose);
  }

  /** Closes everything, whatever fails, and throws the first error. Repeated calls return the same promise. */
  disposeAsync(): Promise<void> {
    this.#disposal ??= this.#disposeAll();
    return this.#disposal;
  }

  async #disposeAll(): Promise<void> {
    this.#isDisposed = true;
    const faults: unknown[] = [];
    for (const close of this.#disposers.toReversed()) {
      try {
        await close();
      } catch (thrown) {
        faults.push(thrown);
      }
    }
    if (faults.length > 0) throw faults[0];
  }
}
