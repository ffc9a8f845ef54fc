import type { Clock } from '../../shared/domain/clock.ts';
import { Alert } from '../../shared/runtime/alert.ts';

export interface WatchedServiceOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Returns the time after a failure in which the service is not called again, in milliseconds. */
  pauseMsAfter(failure: unknown): number;
  /** Called once when an outage begins, with its first failure. */
  onOutage(cause: unknown): void;
  onRecovery(): void;
}

/** Watches a service for outages: each is reported once, and the service is spared while it lasts. */
export function watchedService<A extends readonly unknown[], R>(
  call: (...args: A) => Promise<R>,
  { clock, pauseMsAfter, onOutage, onRecovery }: WatchedServiceOptions,
): (...args: A) => Promise<R> {
  let failure: unknown;
  let pausedUntilMs = Number.NEGATIVE_INFINITY;
  const alert = new Alert({ onFiring: () => onOutage(failure), onResolved: onRecovery });
  return async (...args) => {
    if (clock.monotonic() < pausedUntilMs) throw failure;
    try {
      const found = await call(...args);
      alert.check(undefined);
      return found;
    } catch (cause) {
      failure = cause;
      pausedUntilMs = Math.max(pausedUntilMs, clock.monotonic() + pauseMsAfter(cause)); // requests that were under way fail later
      alert.fire('the source failed');
      alert.check('the source failed'); // the successes since the last failure don't count
      throw cause;
    }
  };
}
