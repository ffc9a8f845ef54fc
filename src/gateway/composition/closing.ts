import { sleep } from '../../shared/runtime/sleep.ts';
import type { Environment } from './environment.ts';

/** Returns the function that ends a process: it is no longer healthy, then accepts no more requests, then releases all. */
export function closerOf({ config, clock, leaving, disposals }: Environment): () => Promise<void> {
  let closing: Promise<void> | undefined;
  const leaveAndClose = async (): Promise<void> => {
    leaving.hasBegun = true;
    if (config.drainDelayMs > 0) await sleep(clock, config.drainDelayMs);
    await disposals.disposeAsync();
  };
  return () => {
    closing ??= leaveAndClose();
    return closing;
  };
}

/** Opens parts of a process; those that are open already are closed if the next one fails. */
export async function openOrClose<T>({ disposals }: Environment, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (thrown) {
    await disposals.disposeAsync().catch(() => {}); // the error that prevented the start is the one to throw
    throw thrown;
  }
}
