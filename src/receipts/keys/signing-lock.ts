import type { Clock } from '../../domain/clock.ts';
import { acquireSocketLock } from '../../runtime/files/socket-lock.ts';
import type { EquivocationGuard } from '../equivocation-guard.ts';
import type { LoadedReceiptKeys } from './load-keys.ts';

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

export interface SigningLockHolder {
  readonly keys: LoadedReceiptKeys;
  readonly guard: EquivocationGuard;
  readonly clock: Clock;
  readonly random: () => number;
  /** Receives the reason why nothing is signed as `exact` yet. */
  onExactWithheld(reason: string, err?: unknown): void;
  /** Called when `exact` is granted after all. */
  onExactGranted(): void;
}

/**
 * Lets the guard grant `exact` as soon as no other process signs with the key. Returns the function that releases the
 * lock.
 */
export async function holdSigningLock({
  keys,
  guard,
  clock,
  random,
  onExactWithheld,
  onExactGranted,
}: SigningLockHolder): Promise<() => void> {
  const { path, isEphemeral } = keys;
  if (isEphemeral) guard.becomeSoleSigner();
  if (path !== null) {
    let wasWithheld = false;
    return acquireSigningLock({
      path,
      clock,
      random,
      onAcquired() {
        guard.becomeSoleSigner();
        if (wasWithheld) onExactGranted();
      },
      onWaiting(err) {
        wasWithheld = true;
        onExactWithheld(
          'another process may be signing with the receipt key: nothing is signed as exact until it ends; if it ran on a machine that is gone, remove its file, which ends in .up, from the folder of the key',
          err,
        );
      },
    });
  }
  if (!isEphemeral)
    onExactWithheld(
      'RECEIPT_KEY may be in use by another process too: nothing is signed as exact; use RECEIPT_KEY_FILE',
    );
  return () => {};
}
