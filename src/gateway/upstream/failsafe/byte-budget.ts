import { GatewayError } from '../../../shared/domain/gateway-error.ts';

const SPENT = 'too many bytes of responses in flight';

/** Returns true if a call failed only because its response came together with too many others. */
export const isByteBudgetSpent = ({ cause }: GatewayError): boolean => cause === SPENT;

/** Of responses over all nodes: one caller has half at most, all callers three quarters, the gateway the rest. */
export class ByteBudget {
  readonly #bytes: number;
  readonly #byCaller = new Map<string, number>();
  #ofCallers = 0;
  #available: number;

  constructor(bytes: number) {
    this.#bytes = bytes;
    this.#available = bytes;
  }

  get available(): number {
    return this.#available;
  }

  /** Reserves bytes until they are released. Throws `overloaded` when too few are available, to the caller or to all. */
  reserve(bytes: number, caller?: string): void {
    const ofCaller = caller === undefined ? 0 : (this.#byCaller.get(caller) ?? 0) + bytes;
    const ofCallers = caller === undefined ? 0 : this.#ofCallers + bytes;
    if (bytes > this.#available || ofCaller > this.#bytes / 2 || ofCallers > (this.#bytes * 3) / 4)
      throw new GatewayError('overloaded', 'too many bytes are being received from nodes; retry in a moment', {
        cause: SPENT,
      });
    this.#change(bytes, caller);
  }

  release(bytes: number, caller?: string): void {
    this.#change(-bytes, caller);
  }

  #change(bytes: number, caller: string | undefined): void {
    this.#available -= bytes;
    if (caller === undefined) return;
    this.#ofCallers += bytes;
    const ofCaller = (this.#byCaller.get(caller) ?? 0) + bytes;
    if (ofCaller > 0) this.#byCaller.set(caller, ofCaller);
    else this.#byCaller.delete(caller);
  }
}
