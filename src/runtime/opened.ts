/** What was opened one after the other, each on those before it: so it is closed in reverse, also when the next fails. */
export class Opened {
  readonly #closers: (() => unknown)[] = [];
  #closed: Promise<void> | undefined;

  add(close: () => void | Promise<void>): void {
    this.#closers.push(close);
  }

  /** Closes all of it, whatever fails, and throws the first fault. However often it is called, it is done once. */
  close(): Promise<void> {
    this.#closed ??= this.#closeAll();
    return this.#closed;
  }

  async #closeAll(): Promise<void> {
    const faults: unknown[] = [];
    for (const close of this.#closers.toReversed()) {
      try {
        await close();
      } catch (thrown) {
        faults.push(thrown);
      }
    }
    if (faults.length > 0) throw faults[0];
  }
}
