import type { Clock } from '../../domain/clock.ts';
import type { ClientIpResolver } from './client-ip.ts';
import { RateLimiter } from './rate-limiter.ts';

export interface ConnectionLimiterOptions {
  /** How many connections an address may open in a second. */
  readonly connections: number;
  /** How many addresses are told apart. */
  readonly identities: number;
  /** The trusted proxies bring everybody: they open as many as they like. */
  readonly clientIp: Pick<ClientIpResolver, 'isTrustedProxy'>;
  readonly clock: Clock;
}

/** Turns away connections that come too fast, before they have said a word. */
export class ConnectionLimiter {
  readonly #rateLimiter: RateLimiter;
  readonly #clientIp: ConnectionLimiterOptions['clientIp'];
  #refused = 0;

  constructor({ connections, identities, clientIp, clock }: ConnectionLimiterOptions) {
    this.#rateLimiter = new RateLimiter({ free: { requests: connections, windowSeconds: 1 }, identities }, clock);
    this.#clientIp = clientIp;
  }

  /** How many were turned away. */
  get refused(): number {
    return this.#refused;
  }

  /** Counts a connection from this address of 4 or 16 bytes; false when it may not come in. */
  accepts(address: ArrayBuffer): boolean {
    const accepted = this.#rateLimiter.consume(address, 1).allowed || this.#clientIp.isTrustedProxy(address);
    if (!accepted) this.#refused++;
    return accepted;
  }
}
