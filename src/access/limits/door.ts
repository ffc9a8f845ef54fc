import type { Clock } from '../../domain/clock.ts';
import type { ClientIp } from './client-ip.ts';
import { Limiter } from './limiter.ts';

export interface DoorOptions {
  /** How many connections an address may open in a second. */
  readonly connections: number;
  /** How many addresses are told apart. */
  readonly identities: number;
  /** The trusted proxies bring everybody: they open as many as they like. */
  readonly clientIp: Pick<ClientIp, 'isProxy'>;
  readonly clock: Clock;
}

/** Turns away connections that come too fast, before they have said a word. */
export class Door {
  readonly #limiter: Limiter;
  readonly #clientIp: DoorOptions['clientIp'];
  #refused = 0;

  constructor({ connections, identities, clientIp, clock }: DoorOptions) {
    this.#limiter = new Limiter({ free: { requests: connections, windowSeconds: 1 }, identities }, clock);
    this.#clientIp = clientIp;
  }

  /** How many were turned away. */
  get refused(): number {
    return this.#refused;
  }

  /** Counts a connection from this address of 4 or 16 bytes; false when it may not come in. */
  admits(address: ArrayBuffer): boolean {
    const admitted = this.#limiter.take(address, 1).allowed || this.#clientIp.isProxy(address);
    if (!admitted) this.#refused++;
    return admitted;
  }
}
