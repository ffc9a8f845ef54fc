import type { Clock } from '../../domain/clock.ts';
import { acquireSocketLock } from '../../runtime/files/socket-lock.ts';

/** How long it takes at least until one that was not alone looks again; at most twice that. */
const RETRY_MS = 2000;

export interface SigningLockOptions {
  /** The file of the key. */
  readonly path: string;
  readonly clock: Clock;
  readonly random: () => number;
  /** Called once, when this process is the only one that signs. */
  onAcquired(): void;
  /** Called once, when that has to be waited for; with the fault that keeps it from being known, if there is one. */
  onWaiting(fault?: unknown): void;
}

/**
 * Waits until no other process on this machine signs with a key: two that do could each sign a truth of its own, and
 * the two receipts together would convict their owner. Settles after the first look, and returns what lets another
 * process have the key.
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
