import { GatewayError } from '../../domain/error.ts';

/** How many bytes of answers may be on their way in at once, over all nodes. */
export class ByteBudget {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  get left(): number {
    return this.#left;
  }

  /** Throws `overloaded` when there are no more; whoever takes some gives them back. */
  take(bytes: number): void {
    if (bytes > this.#left) throw new GatewayError('overloaded', 'too much is being read');
    this.#left -= bytes;
  }

  give(bytes: number): void {
    this.#left += bytes;
  }
}
