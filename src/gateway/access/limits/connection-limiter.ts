import type { Clock } from '../../../shared/domain/clock.ts';
import type { ClientIpResolver } from './client-ip.ts';
import { RateLimiter } from './rate-limiter.ts';

/** The most connections that an address may open in the engine's idle time while most places are taken. */
const CROWDED_CONNECTIONS = 112;
const OPEN_CONNECTIONS = 1024;

export interface ConnectionLimiterOptions {
  readonly connections: number;
  readonly trackedAddresses: number;
  /** The time after which the engine has closed a connection without a request, in seconds. */
  readonly idleSeconds: number;
  readonly processes: number;
  /** Exempts trusted proxies, whose connections carry many clients. */
  readonly clientIp: Pick<ClientIpResolver, 'isTrustedProxy'>;
  readonly clock: Clock;
}

/** Refuses connections that arrive too fast, before any of their bytes is read. */
export class ConnectionLimiter {
  readonly #rateLimiter: RateLimiter;
  readonly #crowdedLimiter: RateLimiter;
  readonly #clientIp: ConnectionLimiterOptions['clientIp'];
  readonly #maxOpen: number;
  refused = 0;

  constructor({ connections, trackedAddresses, idleSeconds, processes, clientIp, clock }: ConnectionLimiterOptions) {
    const limiterOf = (units: number, windowSeconds: number): RateLimiter =>
      new RateLimiter({ free: { units, windowSeconds }, trackedAddresses }, clock);
    this.#rateLimiter = limiterOf(connections, 1);
    this.#crowdedLimiter = limiterOf(CROWDED_CONNECTIONS, idleSeconds);
    this.#clientIp = clientIp;
    this.#maxOpen = Math.floor(OPEN_CONNECTIONS / processes);
  }

  /**
   * Counts a connection from an address of 4 or 16 bytes; returns false if it must be closed. While it is crowded, an
   * address gets few more: not every engine shows whose connection has ended, so it counts those that are opened.
   */
  accepts(address: ArrayBuffer, isCrowded = false): boolean {
    const isSlow = this.#rateLimiter.consume(address, 1).allowed;
    const hasPlace = this.#crowdedLimiter.consume(address, 1).allowed || !isCrowded;
    const accepted = (isSlow && hasPlace) || this.#clientIp.isTrustedProxy(address);
    if (!accepted) this.refused++;
    return accepted;
  }

  maxOpenOf(address: ArrayBuffer): number {
    return this.#clientIp.isTrustedProxy(address) ? Number.POSITIVE_INFINITY : this.#maxOpen;
  }
}
