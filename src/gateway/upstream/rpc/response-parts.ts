/** A shorter part is copied: with its object it would take a hundred bytes more, and it keeps the 64 KiB that it was read in. */
const SHORT_BYTES = 1024;
const COPY_BYTES = 16 * 1024;

const EMPTY = Buffer.alloc(0);

/** The parts of a response's body, as a node sends them: of one byte each, if it wants to. */
export class ResponseParts {
  readonly #parts: Buffer[] = [];
  #copies = EMPTY;
  #copied = 0;

  add(part: Buffer): void {
    if (part.length >= SHORT_BYTES || this.#parts.length === 0) {
      this.#endCopies();
      this.#parts.push(part); // the only one of most responses
      return;
    }
    if (this.#copied + part.length > this.#copies.length) {
      this.#endCopies();
      this.#copies = Buffer.allocUnsafe(COPY_BYTES);
    }
    this.#copied += part.copy(this.#copies, this.#copied);
  }

  end(): readonly Buffer[] {
    this.#endCopies();
    return this.#parts;
  }

  #endCopies(): void {
    if (this.#copied > 0) this.#parts.push(this.#copies.subarray(0, this.#copied));
    this.#copies = this.#copies.subarray(this.#copied);
    this.#copied = 0;
  }
}
