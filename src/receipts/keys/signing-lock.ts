import type { Clock } from '../../domain/clock.ts';
import { acquireSocketLock } from '../../runtime/files/socket-lock.ts';

/** The minimum delay between attempts, in milliseconds; the maximum is twice that. */
const RETRY_MS = 2000;

export interface SigningLockOptions {
  /** Path of the key file. */
  readonly path: string;
  readonly clock: Clock;
  readonly random: () => number;
  /** Called once, when this process is the only one that signs. */
  onAcquired(): void;
  /** Called once if another process has the lock, or with the error that prevents taking it. */
  onWaiting(fault?: unknown): void;
}

/**
 * Waits until no other process on this machine signs with a key: two signers could sign different results, and the two
 * receipts together would convict their owner. Settles after the first attempt and returns the function that releases
 * the lock.
 */
export async function acquireSigningLock({
  path,
  clock,
  random,
  onAcquired,
  onWaiting,
}: SigningLockOptions): Promise<() => void> {
  let release = (): void => {};
  let isReleased = false;
  let hasNotified = false;

  const retryLater = (fault?: unknown): void => {
    if (isReleased) return;
    if (!hasNotified) onWaiting(fault);
    hasNotified = true;
    release = clock.after(RETRY_MS * (1 + random()), () => void tryAcquire());
  };
  const tryAcquire = (): Promise<void> =>
    acquireSocketLock(path).then((releaseLock) => {
      if (releaseLock === undefined) return retryLater();
      if (isReleased) return releaseLock();
      release = releaseLock;
      onAcquired();
    }, retryLater);

  await tryAcquire();
  return () => {
    isReleased = true;
    release();
  };
}
