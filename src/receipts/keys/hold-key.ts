import type { Clock } from '../../domain/clock.ts';
import type { Guard } from '../guard.ts';
import type { ReceiptKeyRing } from './open-keys.ts';
import { signAlone } from './sole-signer.ts';

export interface Hold {
  readonly keys: ReceiptKeyRing;
  readonly guard: Guard;
  readonly clock: Clock;
  readonly random: () => number;
  /** Told why nothing is signed as exact yet. */
  onDoubt(doubt: string, err?: unknown): void;
  /** Told when that is over. */
  onAlone(): void;
}

/** Lets the guard grant `exact` as soon as nobody else signs with the key. Returns what lets go of the key. */
export async function holdKey({ keys, guard, clock, random, onDoubt, onAlone }: Hold): Promise<() => void> {
  const { path, isEphemeral } = keys;
  if (isEphemeral) guard.signAlone();
  if (path !== null) {
    let hasWaited = false;
    return signAlone({
      path,
      clock,
      random,
      onAlone() {
        guard.signAlone();
        if (hasWaited) onAlone();
      },
      onWaiting(err) {
        hasWaited = true;
        onDoubt('another process may sign with the receipt key: until it ends nothing is signed as exact', err);
      },
    });
  }
  if (!isEphemeral) onDoubt('a key that is given inline may sign elsewhere too: nothing is signed as exact');
  return () => {};
}
