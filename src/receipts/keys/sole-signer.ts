import type { Clock } from '../../domain/clock.ts';
import { raiseAlone } from '../../runtime/files/flag.ts';

/** How long it takes at least until one that was not alone looks again; at most twice that. */
const RETRY_MS = 2000;

export interface Claim {
  /** The file of the key. */
  readonly path: string;
  readonly clock: Clock;
  readonly random: () => number;
  /** Called once, when this process is the only one that signs. */
  onAlone(): void;
  /** Called once, when that has to be waited for; with the fault that keeps it from being known, if there is one. */
  onWaiting(fault?: unknown): void;
}

/**
 * Waits until no other process on this machine signs with a key: two that do could each sign a truth of its own, and
 * the two receipts together would convict their owner. Settles after the first look, and returns what lets another
 * process have the key.
 */
export async function signAlone({ path, clock, random, onAlone, onWaiting }: Claim): Promise<() => void> {
  let letGo = (): void => {};
  let isOver = false;
  let isTold = false;

  const lookLater = (fault?: unknown): void => {
    if (isOver) return;
    if (!isTold) onWaiting(fault);
    isTold = true;
    letGo = clock.after(RETRY_MS * (1 + random()), () => void look());
  };
  const look = (): Promise<void> =>
    raiseAlone(path).then((lower) => {
      if (lower === undefined) return lookLater();
      if (isOver) return lower();
      letGo = lower;
      onAlone();
    }, lookLater);

  await look();
  return () => {
    isOver = true;
    letGo();
  };
}
