import type { Clock } from '../../../shared/domain/clock.ts';
import { acquireSocketLock } from '../../../shared/runtime/files/socket-lock.ts';
import type { EquivocationGuard } from '../equivocation-guard.ts';
import type { LoadedReceiptKeys } from './load-keys.ts';

/** The minimum delay between attempts, in milliseconds; the maximum is twice that. */
const RETRY_MS = 2000;

interface SigningLockHolder {
  readonly keys: Pick<LoadedReceiptKeys, 'path' | 'isEphemeral' | 'created'>;
  readonly guard: Pick<EquivocationGuard, 'becomeSoleSigner'>;
  readonly clock: Clock;
  readonly random: () => number;
  /** Receives the reason why nothing is signed as `exact` yet, once, and the error that prevents acquiring the lock. */
  onExactWithheld(reason: string, err?: unknown): void;
  /** Called when `exact` is granted after all. */
  onExactGranted(): void;
}

/**
 * Lets the guard grant `exact` as soon as no other process on this machine signs with the key: two signers could sign
 * different results, and the two receipts together would convict their owner. Settles after the first attempt and returns
 * the function that releases the lock.
 */
export async function holdSigningLock(holder: SigningLockHolder): Promise<() => void> {
  const { guard, clock, random, onExactWithheld, onExactGranted } = holder;
  const { path, isEphemeral, created } = holder.keys;
  if (isEphemeral) guard.becomeSoleSigner(true);
  else if (path === null) onExactWithheld(KEY_ELSEWHERE);
  if (path === null) return () => {};
  let release = (): void => {};
  let isReleased = false;
  let wasWithheld = false;
  const retryLater = (fault?: unknown): void => {
    if (isReleased) return;
    if (!wasWithheld) onExactWithheld(KEY_IN_USE, fault);
    wasWithheld = true;
    release = clock.after(RETRY_MS * (1 + random()), () => void tryAcquire());
  };
  const tryAcquire = (): Promise<void> =>
    acquireSocketLock(path).then((releaseLock) => {
      if (releaseLock === undefined) return retryLater();
      if (isReleased) return releaseLock();
      release = releaseLock;
      guard.becomeSoleSigner(created && !wasWithheld);
      if (wasWithheld) onExactGranted();
    }, retryLater);
  await tryAcquire();
  return () => {
    isReleased = true;
    release();
  };
}

const KEY_IN_USE =
  'another process may be signing with the receipt key: nothing is signed as exact until it ends. Give a second gateway a folder of its own by --data-dir; if the other one ran on a machine that is gone, remove its file, which ends in .up, from the folder of the key';
const KEY_ELSEWHERE =
  'RECEIPT_KEY may be in use by another process too: nothing is signed as exact; use RECEIPT_KEY_FILE';
