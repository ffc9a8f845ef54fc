/** What was opened one after the other, each on those before it: so it is closed in reverse, also when the next fails. */
export class DisposalStack {
  readonly #disposers: (() => unknown)[] = [];
  #disposal: Promise<void> | undefined;

  defer(dispose: () => void | Promise<void>): void {
    this.#disposers.push(dispose);
  }

  /** Closes all of it, whatever fails, and throws the first fault. However often it is called, it is done once. */
  disposeAsync(): Promise<void> {
    this.#disposal ??= this.#disposeAll();
    return this.#disposal;
  }

  async #disposeAll(): Promise<void> {
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
