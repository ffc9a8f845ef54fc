import type { Clock } from '../domain/clock.ts';
import { Alert } from '../runtime/alert.ts';
import type { PriceSource } from './price-source.ts';

export interface WatchedPricesOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** The time after a failure in which the source is not asked again, in milliseconds. */
  readonly pauseMs: number;
  /** Called once when an outage begins, with its first failure. */
  onOutage(cause: unknown): void;
  /** Called once when it is over. */
  onRecovery(): void;
}

/** Watches a source for outages: each is told once, however many callers meet it, and the source is spared meanwhile. */
export function watchedPrices(source: PriceSource, options: WatchedPricesOptions): PriceSource {
  const { clock, pauseMs, onOutage, onRecovery } = options;
  let failure: unknown;
  let pausedUntilMs = Number.NEGATIVE_INFINITY;
  const alert = new Alert({ onFiring: () => onOutage(failure), onResolved: onRecovery });
  return {
    name: source.name,
    async prices(mints, asOf) {
      if (clock.monotonic() < pausedUntilMs) throw failure;
      try {
        const found = await source.prices(mints, asOf);
        alert.check(undefined);
        return found;
      } catch (cause) {
        failure = cause;
        pausedUntilMs = clock.monotonic() + pauseMs;
        alert.fire('the source failed');
        alert.check('the source failed'); // the successes since the last failure don't count
        throw cause;
      }
    },
  };
}
