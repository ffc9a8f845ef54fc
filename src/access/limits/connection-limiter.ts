import type { Clock } from '../../domain/clock.ts';
import type { ClientIpResolver } from './client-ip.ts';
import { RateLimiter } from './rate-limiter.ts';

export interface ConnectionLimiterOptions {
  /** The most connections that an address may open per second. */
  readonly connections: number;
  /** The number of addresses counted separately. */
  readonly identities: number;
  /** Exempts trusted proxies, whose connections carry many clients. */
  readonly clientIp: Pick<ClientIpResolver, 'isTrustedProxy'>;
  readonly clock: Clock;
}

/** Refuses connections that arrive too fast, before any of their bytes is read. */
export class ConnectionLimiter {
  readonly #rateLimiter: RateLimiter;
  readonly #clientIp: ConnectionLimiterOptions['clientIp'];
  #refused = 0;

  constructor({ connections, identities, clientIp, clock }: ConnectionLimiterOptions) {
    this.#rateLimiter = new RateLimiter({ free: { requests: connections, windowSeconds: 1 }, identities }, clock);
    this.#clientIp = clientIp;
  }

  /** The number of refused connections. */
  get refused(): number {
    return this.#refused;
  }

  /** Counts a connection from an address of 4 or 16 bytes; returns false if it must be closed. */
  accepts(address: ArrayBuffer): boolean {
    const accepted = this.#rateLimiter.consume(address, 1).allowed || this.#clientIp.isTrustedProxy(address);
    if (!accepted) this.#refused++;
    return accepted;
  }
}
