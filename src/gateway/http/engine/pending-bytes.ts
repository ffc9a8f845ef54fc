import { GatewayError } from '../../../shared/domain/gateway-error.ts';

/** Whose bytes are counted together: the key of the caller's rate limit. */
export type CallerKey = number | bigint | string;

export interface PendingBytesLimits {
  readonly total: number;
  readonly caller: number;
}

/** In all and per caller. A caller that is owed nothing may get any one answer, however long. */
export class PendingBytes {
  readonly #limits: PendingBytesLimits;
  readonly #byCaller = new Map<CallerKey, number>();
  #total = 0;

  constructor(limits: PendingBytesLimits) {
    this.#limits = limits;
  }

  get total(): number {
    return this.#total;
  }

  of(caller: CallerKey): number {
    return this.#byCaller.get(caller) ?? 0;
  }

  /** Counts bytes that a caller is to be sent. Returns why they are too many, in which case nothing is counted. */
  add(caller: CallerKey, bytes: number): GatewayError | undefined {
    const owed = this.of(caller);
    if (owed > 0 && owed + bytes > this.#limits.caller) {
      return new GatewayError(
        'overloaded',
        `${owed} bytes of answers wait for you to read them, and with this one they would be over ${this.#limits.caller}; read them first`,
      );
    }
    if (this.#total > 0 && this.#total + bytes > this.#limits.total)
      return new GatewayError('overloaded', 'too many bytes of answers wait for their readers; try again in a moment');
    this.#byCaller.set(caller, owed + bytes);
    this.#total += bytes;
    return undefined;
  }

  /** Removes bytes that were added: they are received, or will never be sent. */
  settle(caller: CallerKey, bytes: number): void {
    if (bytes === 0) return;
    this.#total -= bytes;
    const owed = this.of(caller) - bytes;
    if (owed > 0) this.#byCaller.set(caller, owed);
    else this.#byCaller.delete(caller);
  }
}
