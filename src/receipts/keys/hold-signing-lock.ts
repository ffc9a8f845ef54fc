import type { Clock } from '../../domain/clock.ts';
import type { EquivocationGuard } from '../equivocation-guard.ts';
import type { LoadedReceiptKeys } from './load-keys.ts';
import { acquireSigningLock } from './signing-lock.ts';

export interface SigningLockHolder {
  readonly keys: LoadedReceiptKeys;
  readonly guard: EquivocationGuard;
  readonly clock: Clock;
  readonly random: () => number;
  /** Told why nothing is signed as exact yet. */
  onExactWithheld(reason: string, err?: unknown): void;
  /** Told when that is over. */
  onExactGranted(): void;
}

/** Lets the guard grant `exact` as soon as nobody else signs with the key. Returns what lets go of the key. */
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
        onExactWithheld('another process may sign with the receipt key: until it ends nothing is signed as exact', err);
      },
    });
  }
  if (!isEphemeral) onExactWithheld('a key that is given inline may sign elsewhere too: nothing is signed as exact');
  return () => {};
}
