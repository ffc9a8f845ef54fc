import { GatewayError } from '../../domain/gateway-error.ts';

const SPENT = 'too many bytes of responses in flight';

/** Tells whether a call failed only because its response came together with too many others. */
export const isByteBudgetSpent = ({ cause }: GatewayError): boolean => cause === SPENT;

/** Bounds the bytes of responses that are being received at once, over all nodes. */
export class ByteBudget {
  #available: number;

  constructor(bytes: number) {
    this.#available = bytes;
  }

  get available(): number {
    return this.#available;
  }

  /** Reserves bytes until the caller releases them. Throws `overloaded` when too few are available. */
  reserve(bytes: number): void {
    if (bytes > this.#available)
      throw new GatewayError('overloaded', 'the limit of response bytes in flight is reached; retry later', {
        cause: SPENT,
      });
    this.#available -= bytes;
  }

  release(bytes: number): void {
    this.#available += bytes;
  }
}
