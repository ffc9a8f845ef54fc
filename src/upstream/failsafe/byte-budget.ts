import { GatewayError } from '../../domain/gateway-error.ts';

/** How many bytes of answers may be on their way in at once, over all nodes. */
export class ByteBudget {
  #available: number;

  constructor(bytes: number) {
    this.#available = bytes;
  }

  get available(): number {
    return this.#available;
  }

  /** Throws `overloaded` when there are no more; whoever takes some gives them back. */
  reserve(bytes: number): void {
    if (bytes > this.#available) throw new GatewayError('overloaded', 'too much is being read');
    this.#available -= bytes;
  }

  release(bytes: number): void {
    this.#available += bytes;
  }
}
