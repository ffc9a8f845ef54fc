import type { Clock } from '../../domain/clock.ts';
import type { EquivocationGuard } from '../equivocation-guard.ts';
import type { LoadedReceiptKeys } from './load-keys.ts';
import { acquireSigningLock } from './signing-lock.ts';

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
          'another process may be signing with the receipt key: nothing is signed as exact until it ends',
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
